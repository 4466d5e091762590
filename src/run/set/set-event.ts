/** What a set tells beside what its runs tell. */
export type SetEvent =
  | { readonly type: 'set-start'; readonly set: string; readonly tasks: number; readonly logDir: string }
  /** An attempt at all that is not complete begins: one run. Counted from 1; the first also looks whether logs are complete. */
  | { readonly type: 'set-attempt'; readonly attempt: number; readonly tasks: readonly string[] }
  /** Before the next attempt. */
  | { readonly type: 'set-pause'; readonly ms: number; readonly again: readonly string[] }
  /** A log that another one holds whole was removed. */
  | { readonly type: 'set-removed'; readonly log: string; readonly keptIn: string }
  | { readonly type: 'set-note'; readonly level: 'info' | 'warning'; readonly message: string }
  | { readonly type: 'set-end'; readonly set: string; readonly complete: number; readonly tasks: number }
