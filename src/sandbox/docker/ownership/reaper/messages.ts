/** How the reaper reaches an engine. */
export interface ReaperEngine {
  readonly id: string
  readonly address: { readonly socketPath: string } | { readonly host: string; readonly port: number }
  readonly apiVersion: string
  /** Base64. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string }
}

export type ObjectKind = 'container' | 'network' | 'volume'

/** What a run tells its reaper, one JSON object a line. */
export type ReaperMessage =
  | { readonly type: 'run'; readonly run: string }
  | { readonly type: 'engine'; readonly engine: ReaperEngine }
  /** Nothing of the run is left there. */
  | { readonly type: 'engine-done'; readonly id: string }
  /** A create call is about to be sent. */
  | {
      readonly type: 'creating'
      readonly engine: string
      readonly number: number
      readonly kind: ObjectKind
      readonly name: string
    }
  /** It was answered, whatever the answer. */
  | { readonly type: 'created'; readonly number: number }
  /** The sandbox of this Compose project name outlives the run. */
  | { readonly type: 'keep'; readonly project: string }
  /** The run ends by itself. */
  | { readonly type: 'leave' }
