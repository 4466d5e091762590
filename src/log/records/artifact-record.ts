import { z } from 'zod'

/** What became of one artifact that a task or sample declares. */
export const artifactRecordSchema = z.object({
  /** As it is declared. */
  name: z.string(),
  status: z.enum(['taken', 'missing', 'too-large', 'refused']),
  /** Files, folders and links. */
  files: z.number().optional(),
  bytes: z.number().optional(),
  /** Text from a sandbox may be in it. */
  why: z.string().optional(),
})
export type ArtifactRecord = z.infer<typeof artifactRecordSchema>
