import { readFile } from 'node:fs/promises'
import { relative, sep } from 'node:path'
import { z } from 'zod'
import { ConfigError, errorMessage } from '../../errors.ts'
import { isDatasetFile } from '../dataset-file.ts'
import { packageOf } from '../package-name.ts'
import { type Task, type TaskDefinition, TaskFactory } from '../task.ts'
import { TASK_STATUSES } from '../task-registration.ts'
import type { FoundTask } from './find-tasks.ts'

const SCHEMA = 1

const entrySchema = z.object({
  id: z.string(),
  /** Relative to the folder of the catalogue's package, with slashes. */
  file: z.string(),
  version: z.string().optional(),
  status: z.enum(TASK_STATUSES).optional(),
  tags: z.array(z.string()).optional(),
  dataset: z
    .object({ name: z.string().optional(), split: z.string().optional(), revision: z.string().optional() })
    .optional(),
  scorers: z.array(z.string()).optional(),
  /** Defaults as they are declared, whatever a run is given, and JSON Schemas. */
  parameters: z
    .record(z.string(), z.object({ declared: z.unknown().optional(), schema: z.unknown() }))
    .optional(),
})
export type CatalogueEntry = z.infer<typeof entrySchema>

const catalogueSchema = z.object({
  schema: z.literal(SCHEMA),
  package: z.string().optional(),
  tasks: z.array(entrySchema),
})
/** What the tasks of a package declare: a task that needs arguments is there with its parameters alone. */
export type Catalogue = z.infer<typeof catalogueSchema>

export async function catalogueOf(directory: string, found: readonly FoundTask[]): Promise<Catalogue> {
  return {
    schema: SCHEMA,
    package: await packageOf(directory),
    tasks: found.map(({ id, file, task }) => ({
      id,
      file: relative(directory, file).split(sep).join('/'),
      ...facts(task),
    })),
  }
}

/** The text of a catalogue file. */
export function catalogueText(catalogue: Catalogue): string {
  return `${JSON.stringify(catalogue, undefined, 2)}\n`
}

/** @throws ConfigError for a file that is none, or of another version */
export async function readCatalogue(file: string): Promise<Catalogue> {
  let value: unknown
  try {
    value = JSON.parse(await readFile(file, 'utf8'))
  } catch (cause) {
    throw new ConfigError(`cannot read the catalogue: ${errorMessage(cause)}`, { where: file, cause })
  }
  const version = (value as { schema?: unknown } | null)?.schema
  if (version !== SCHEMA)
    throw new ConfigError(`a catalogue of schema ${JSON.stringify(version)}; this belljar knows ${SCHEMA}`, {
      where: file,
    })
  const parsed = catalogueSchema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new ConfigError(`${issue?.path.map(String).join('.')}: ${issue?.message}`, { where: file })
}

function facts(task: Task | TaskFactory): Partial<CatalogueEntry> {
  if (!(task instanceof TaskFactory)) return defined(task.definition)
  const { shape } = task.parameters
  const parameters = Object.fromEntries(
    Object.entries(shape).map(([name, schema]) => {
      const declared = z.safeParse(schema, undefined)
      const value = declared.success ? declared.data : undefined
      return [
        name,
        {
          ...(value !== undefined && { declared: value }),
          schema: z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }),
        },
      ]
    }),
  )
  const isFree = task.parameters.safeParse({}).success
  return { version: task.version, ...(isFree && defined(task.create({}).task.definition)), parameters }
}

function defined({ version, status, tags, dataset, scorers }: TaskDefinition): Partial<CatalogueEntry> {
  return {
    version,
    status,
    tags: tags && [...tags],
    dataset: isDatasetFile(dataset) ? { ...dataset.info } : undefined,
    scorers: scorers?.map(({ name }) => name),
  }
}
