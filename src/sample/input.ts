import { z } from 'zod'
import type { Content, MediaPart, TextPart } from './content.ts'

/** Media of an input: a file beside the task, a web address, or bytes (base64 text or a data URI; a Uint8Array in code). */
export interface MediaReference {
  readonly type: MediaPart['type']
  readonly path?: string
  readonly url?: string
  readonly data?: string | Uint8Array
  /** For bytes that do not tell it themselves. */
  readonly mediaType?: string
  /** Of an image: how closely a model is to look. */
  readonly detail?: 'low' | 'high'
  /** Of a document. */
  readonly filename?: string
}

export type InputPart = TextPart | MediaReference

/** What a sample asks: text, or text and media in order. */
export type Input = string | readonly InputPart[]

const mediaReference = z
  .strictObject({
    type: z.enum(['image', 'audio', 'video', 'document']),
    path: z.string().min(1).optional(),
    url: z.url().optional(),
    data: z.union([z.string().min(1), z.instanceof(Uint8Array)]).optional(),
    mediaType: z
      .string()
      .regex(/^[\w.+-]+\/[\w.+-]+$/)
      .optional(),
    detail: z.enum(['low', 'high']).optional(),
    filename: z.string().min(1).optional(),
  })
  .refine(
    ({ path, url, data }) => [path, url, data].filter((source) => source !== undefined).length === 1,
    'expected exactly one of path, url and data',
  )

const EXPECTED =
  'expected text, or parts such as { type: text, text } or { type: image | audio | video | document, path | url | data }'

const inputPart = z.union([z.strictObject({ type: z.literal('text'), text: z.string() }), mediaReference], {
  error: EXPECTED,
})

export const inputSchema = z.union([z.string(), z.array(inputPart).min(1, EXPECTED)], { error: EXPECTED })

/** For lists and readers of text: media as its kind in brackets. */
export function shownInput(input: Input | Content): string {
  if (typeof input === 'string') return input
  return input.map((part) => (part.type === 'text' ? part.text : `(${part.type})`)).join('\n')
}
