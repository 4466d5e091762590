import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Docker from 'dockerode'
import type { Agent } from '../../src/agent/agent.ts'
import type { SampleRecord } from '../../src/log/records/records.ts'
import { evaluate, type RunResult } from '../../src/run/evaluate.ts'
import type { EvaluateOptions } from '../../src/run/options.ts'
import type { RunEvent } from '../../src/run/run-event.ts'
import type { Sample } from '../../src/sample/sample.ts'
import { DockerProvider } from '../../src/sandbox/docker/docker-provider.ts'
import { defineTask, type TaskDefinition } from '../../src/task/task.ts'
import { tempDir } from './temp-dir.ts'

export interface DockerEval {
  readonly result: RunResult
  readonly records: ReadonlyMap<string, SampleRecord>
  readonly notes: readonly string[]
}

/** Runs samples in Docker, on the engine that a host names, in a folder of their own with the given files. */
export async function dockerEval(
  definition: Partial<TaskDefinition> & { dataset: readonly Sample[]; agent: Agent },
  { host, files = {}, ...options }: EvaluateOptions & { host?: string; files?: Record<string, string> } = {},
): Promise<DockerEval> {
  await using folder = await tempDir()
  await mkdir(join(folder.path, 'logs'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text)
  const events: RunEvent[] = []
  const environment = { ...process.env, ...(host !== undefined && { DOCKER_HOST: host }) }
  const task = defineTask({ name: 'dying', failOnError: false, ...definition })
  const loaded = { task, name: 'dying', directory: folder.path, file: undefined, parameters: {} }
  const result = await evaluate([loaded], {
    logDir: join(folder.path, 'logs'),
    reaper: false,
    ...options,
    providers: { docker: () => DockerProvider.connect({ environment, transport: options.transport }) },
    onEvent: (event) => events.push(event),
  })
  const ended = events.flatMap((event) => (event.type === 'sample-end' ? [event.record] : []))
  return {
    result,
    records: new Map(ended.map((record) => [String(record.id), record])),
    notes: events.flatMap((event) => ('message' in event ? [event.message] : [])),
  }
}

/** The containers of a sample, by service; what is alone has the name `default`. */
export async function containersOf(
  docker: Docker,
  sample: string,
): Promise<ReadonlyMap<string, Docker.Container>> {
  const list = await docker.listContainers({ filters: { label: [`belljar.sample=${sample}`] } })
  return new Map(
    list.map(({ Id, Labels }) => [Labels['com.docker.compose.service'] ?? '', docker.getContainer(Id)]),
  )
}

/** A client of the engine that a host names. */
export function dockerAt(host: string | undefined = process.env.DOCKER_HOST): Docker {
  return host === undefined ? new Docker() : new Docker({ socketPath: host.replace('unix://', '') })
}
