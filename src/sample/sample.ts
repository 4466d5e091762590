import { z } from 'zod'
import { ConfigError } from '../errors.ts'
import type { Content } from './content.ts'
import { type Input, inputSchema } from './input.ts'
import { parseSandboxSpec, type SandboxSpec } from './sandbox-spec.ts'

/** Text, or what is read from elsewhere: a file or folder beside the task, a web address, bytes (base64 text in data files). */
export type FileContent =
  | string
  | { readonly path: string }
  | { readonly url: string }
  | { readonly data: string | Uint8Array }

/** Path in the default service, or `service:path`, to content. */
export type SampleFiles = Readonly<Record<string, FileContent>>

/** One problem. */
export interface Sample {
  /** Compared as text; given by number, in order, when absent. */
  readonly id?: string | number
  /** Text, or text and media in order. */
  readonly input: Input
  readonly target?: string | readonly string[]
  readonly choices?: readonly string[]
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly sandbox?: SandboxSpec
  /** Put into the sandbox before `setup`; owned by the sandbox's user. */
  readonly files?: SampleFiles
  /** A script (`#!/bin/sh` unless it has a first line of its own), run in the default service after the files. */
  readonly setup?: string
  /** A script that solves the sample, for the oracle agent; comes into no sandbox otherwise. */
  readonly solution?: string
  /** Put into the sandbox after the agent has ended; owned by root, replacing whatever is there. */
  readonly tests?: SampleFiles
  /** Beside those of the task. */
  readonly artifacts?: readonly string[]
  /** In which the scorers act, instead of that of the task. */
  readonly verifier?: SandboxSpec
}

/** A sample as agents and scorers see it. */
export interface ReadySample extends Omit<Sample, 'input'> {
  /** As text: media as their kind in brackets. */
  readonly input: string
  /** The same with its media at hand: what a model is given. */
  readonly content: Content
}

const fileContent = z.union([
  z.string(),
  z.strictObject({ path: z.string().min(1) }),
  z.strictObject({ url: z.url() }),
  z.strictObject({ data: z.union([z.base64(), z.instanceof(Uint8Array)]) }),
])

const sampleFiles = z.record(z.string().min(1), fileContent)

const ARTIFACT = /^(?:[^/:]+:)?\/(?!proc(?:\/|$)|sys(?:\/|$)|dev(?:\/|$))[^\0]*[^\0/]$/u

/** Absolute paths of files or folders, `service:/path` in another than the default service. */
export const artifactsSchema = z.array(
  z
    .string()
    .regex(ARTIFACT, 'expected the absolute path of a file or folder, or service:/path')
    .refine((path) => !path.split('/').includes('..'), "expected a path without '..'"),
)

const sandboxSpec = z.unknown().transform((value, context): SandboxSpec => {
  try {
    return parseSandboxSpec(value)
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) })
    return z.NEVER
  }
})

const sampleSchema = z.strictObject({
  id: z.union([z.string().min(1), z.number()]).optional(),
  input: inputSchema,
  target: z.union([z.string(), z.array(z.string())]).optional(),
  choices: z.array(z.string()).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  sandbox: sandboxSpec.optional(),
  files: sampleFiles.optional(),
  setup: z.string().optional(),
  solution: z.string().optional(),
  tests: sampleFiles.optional(),
  artifacts: artifactsSchema.optional(),
  verifier: sandboxSpec.optional(),
})

export const SAMPLE_FIELDS = Object.keys(sampleSchema.shape)

/** Checks a sample and returns a copy; the caller's object is never changed. `where` names its origin in errors. @throws ConfigError */
export function parseSample(value: unknown, where: string): Sample {
  const parsed = sampleSchema.safeParse(value)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map((issue) => {
    const field = issue.path.map(String).join('.')
    return field === '' ? issue.message : `field '${field}': ${issue.message}`
  })
  throw new ConfigError(`invalid sample: ${problems.join('; ')}`, { where })
}
