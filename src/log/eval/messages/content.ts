import {
  type Content,
  type ContentPart,
  dataUri,
  type MediaPart,
  type ReasoningPart,
} from '../../../sample/content.ts'
import type { EvalContent } from '../schema/values.ts'

type EvalPart = Exclude<EvalContent, string>[number]

/** Content in Inspect's form: media as data URIs (inspect_ai/_util/content.py, 0.3.285). */
export function toEvalContent(content: Content): EvalContent {
  return typeof content === 'string' ? content : content.map(toPart)
}

function toPart(part: ContentPart): EvalPart {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text, internal: part.providerData }
    case 'reasoning': {
      const { type, text, signature, redacted = false, providerData } = part
      return { type, reasoning: text, signature, redacted, internal: providerData }
    }
    case 'document': {
      const { type, filename = '', mediaType } = part
      return { type, document: dataUri(part), filename, mime_type: mediaType }
    }
    case 'image':
      return { type: 'image', image: dataUri(part), detail: part.detail ?? 'auto' }
    default:
      return { type: part.type, [part.type]: dataUri(part), format: formatOf(part) }
  }
}

/** Inspect knows few formats by name; the data URI says what it really is. */
function formatOf({ type, mediaType }: MediaPart): string {
  if (type === 'audio') return /mp3|mpeg/.test(mediaType) ? 'mp3' : 'wav'
  return /quicktime|mov/.test(mediaType) ? 'mov' : mediaType === 'video/mpeg' ? 'mpeg' : 'mp4'
}

export function fromEvalContent(content: EvalContent): Content {
  return typeof content === 'string' ? content : content.map(fromPart)
}

function fromPart(part: EvalPart): ContentPart {
  const { type } = part
  if (type === 'text' && typeof part.text === 'string') return { type, text: part.text, ...ownData(part) }
  if (type === 'reasoning') return reasoning(part)
  if (type === 'image' || type === 'audio' || type === 'video' || type === 'document')
    return mediaPart(part, type)
  return { type: 'text', text: `(${type})` }
}

function ownData({ internal }: EvalPart): Pick<ReasoningPart, 'providerData'> {
  return isRecord(internal) ? { providerData: internal as ReasoningPart['providerData'] } : {}
}

function reasoning(part: EvalPart): ReasoningPart {
  const { reasoning, summary, signature, redacted } = part
  return {
    type: 'reasoning',
    text: String(reasoning ?? summary ?? ''),
    ...(typeof signature === 'string' ? { signature } : {}),
    ...(redacted === true ? { redacted } : {}),
    ...ownData(part),
  }
}

/** Media that is elsewhere is named in text: its bytes are not in the log. */
function mediaPart(part: EvalPart, type: MediaPart['type']): ContentPart {
  const source = String(part[type] ?? '')
  const [, mediaType, data] = /^data:([^;,]*);base64,(.*)$/s.exec(source) ?? []
  if (mediaType === undefined || data === undefined) return { type: 'text', text: `(${type}: ${source})` }
  if (type === 'document') {
    const filename = typeof part.filename === 'string' && part.filename !== '' ? part.filename : undefined
    return { type, data, mediaType, ...(filename === undefined ? {} : { filename }) }
  }
  const detail = part.detail === 'low' || part.detail === 'high' ? part.detail : undefined
  return { type, data, mediaType, ...(type === 'image' && detail ? { detail } : {}) } as MediaPart
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
