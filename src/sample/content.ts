/** What a message or a sample's input is made of: text, media whose bytes are at hand, and what a model thought. */
export type ContentPart = TextPart | ReasoningPart | MediaPart

export type MediaPart = ImagePart | AudioPart | VideoPart | DocumentPart

export interface TextPart {
  readonly type: 'text'
  readonly text: string
  /** By provider: what it wants back with the next call. */
  readonly providerData?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

export interface ReasoningPart {
  readonly type: 'reasoning'
  readonly text: string
  /** Proves to the provider that the text is the model's. */
  readonly signature?: string
  /** The provider shows the text to nobody: it is what it wants back. */
  readonly redacted?: boolean
  /** By provider: whatever else it wants back with the next call. */
  readonly providerData?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

interface Media {
  /** Base64, without the head of a data URI. */
  readonly data: string
  /** Such as `image/png`. */
  readonly mediaType: string
}

export interface ImagePart extends Media {
  readonly type: 'image'
  /** How closely a model is to look (default: as it sees fit). */
  readonly detail?: 'low' | 'high'
}

export interface AudioPart extends Media {
  readonly type: 'audio'
}

export interface VideoPart extends Media {
  readonly type: 'video'
}

export interface DocumentPart extends Media {
  readonly type: 'document'
  readonly filename?: string
}

/** Text, or parts in order. */
export type Content = string | readonly ContentPart[]

export function dataUri({ data, mediaType }: Pick<MediaPart, 'data' | 'mediaType'>): string {
  return `data:${mediaType};base64,${data}`
}

/** The text parts, one a line: neither reasoning nor media. */
export function textOf(content: Content): string {
  if (typeof content === 'string') return content
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}
