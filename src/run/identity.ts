import { createHash } from 'node:crypto'
import { relative, resolve } from 'node:path'
import type { TaskIdentity } from '../log/records/header-record.ts'
import type { Input } from '../sample/input.ts'
import type { Sample, SampleFiles } from '../sample/sample.ts'
import type { SampleId } from '../sample/sample-id.ts'
import { isDatasetFile } from '../task/dataset-file.ts'
import { type LoadedTask, nameOf } from '../task/load-tasks.ts'
import { packageOf } from '../task/package-name.ts'
import type { Dataset } from '../task/task.ts'
import { registrationOf } from '../task/task-registration.ts'
import { canonicalJson } from '../util/canonical.ts'
import { definedOnly } from '../util/defined-only.ts'
import type { ResolvedTask } from './resolved-task.ts'

/** `package/name` of a task that `defineTask` made; undefined for any other object and for one without a name. */
export async function taskIdOf({ task, file, directory }: LoadedTask): Promise<string | undefined> {
  const registration = registrationOf(task)
  const name = registration && (registration.name ?? (file === undefined ? undefined : nameOf(file)))
  if (name === undefined) return undefined
  const packageName = await packageOf(directory)
  return packageName === undefined ? name : `${packageName}/${name}`
}

/** What a task that has an id really is, as far as it is known before its first sandbox. */
export async function taskIdentity(task: ResolvedTask): Promise<TaskIdentity | undefined> {
  const id = await taskIdOf(task)
  const { source, scorers, effective, digest, count } = task
  if (id === undefined) return undefined
  const { version, status, dataset } = task.task.definition
  const sandbox = definedOnly({ ...task.sandbox })
  return definedOnly({
    id,
    version,
    status,
    dataset: definedOnly({ kind: source ? 'source' : 'fixed', ...infoOf(dataset), count, digest }),
    scorers: scorers.map(({ name }) => name),
    sandbox: Object.keys(sandbox).length > 0 ? sandbox : undefined,
    parameters: { ...effective.records },
  }) as TaskIdentity
}

/** SHA-256 over samples and their ids, wherever the task's folder is. */
export function datasetDigest(
  samples: readonly { readonly id: SampleId; readonly sample: Sample }[],
  directory: string,
): string {
  const hash = createHash('sha256')
  for (const { id, sample } of samples) {
    const { files, tests } = sample
    const portable = {
      ...sample,
      id: String(id),
      input: movableInput(sample.input, directory),
      files: movable(files, directory),
      tests: movable(tests, directory),
    }
    hash.update(`${canonicalJson(portable)}\n`)
  }
  return hash.digest('hex')
}

function movableInput(input: Input, directory: string): unknown {
  if (typeof input === 'string') return input
  return input.map((part) =>
    part.type !== 'text' && part.path !== undefined
      ? { ...part, path: relative(directory, resolve(directory, part.path)) }
      : part,
  )
}

function movable(files: SampleFiles | undefined, directory: string): unknown {
  return (
    files &&
    Object.entries(files).map(([target, content]) => [
      target,
      typeof content === 'object' && 'path' in content
        ? { path: relative(directory, resolve(directory, content.path)) }
        : content,
    ])
  )
}

function infoOf(dataset: Dataset) {
  return isDatasetFile(dataset) ? { ...dataset.info } : {}
}
