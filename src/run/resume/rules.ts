import type { HeaderRecord } from '../../log/records/records.ts'
import type { TaskDefinition, TaskMeta } from '../../task/task.ts'
import type { EvaluateOptions } from '../options.ts'

/** A function: what it finds in both headers has to be the same; undefined is not compared. */
type Rule = 'may-change' | 'not-compared' | ((header: HeaderRecord) => unknown)

/** A log that says what ran says so by leaving out, too; an older one may not have known the field. */
const orNone =
  (find: (header: HeaderRecord) => unknown) =>
  (header: HeaderRecord): unknown =>
    find(header) ?? (header.identity ? null : undefined)

/** What may change between an eval and one that resumes it. Every option and every field of a task is here, or this does not compile. */
export const RESUME_RULES = {
  // What results depend on.
  version: orNone(({ task }) => task.version),
  parameters: ({ task }) => task.parameters,
  dataset: ({ identity }) =>
    identity && { ...kindAndCount(identity.dataset), digest: identity.dataset.digest },
  model: ({ model }) => model ?? null,
  modelArgs: ({ modelFacts }) => modelFacts?.args,
  modelRoles: orNone(rolesOf),
  config: generateConfigOf,
  agent: ({ task }) => task.agent,
  scorers: ({ scorers }) => scorers.map(({ name }) => name),
  sandbox: sandboxOf,
  epochs: ({ epochs }) => epochs,
  limits: ({ config }) => config.limits,
  prices: ({ config }) => config.prices,
  scoreOnError: ({ config }) => config.scoreOnError,
  setupTimeoutMs: orNone(({ config }) => config.setupTimeoutMs),
  scoreTimeoutMs: orNone(({ config }) => config.scoreTimeoutMs),
  verifier: orNone(({ config }) => config.verifier),
  artifacts: orNone(({ config }) => config.artifacts),
  maxArtifactBytes: orNone(({ config }) => config.maxArtifactBytes),
  agentProcesses: orNone(({ config }) => config.agentProcesses),
  maxOutputBytes: orNone(({ config }) => config.maxOutputBytes),
  maxReadBytes: orNone(({ config }) => config.maxReadBytes),
  // What changes how fast, how much of it, how often tried again, or how it is summed up.
  maxSamples: 'may-change',
  maxSandboxes: 'may-change',
  maxStarts: 'may-change',
  maxEngineCalls: 'may-change',
  maxTasks: 'may-change',
  maxConnections: 'may-change',
  cache: 'may-change',
  modelBaseUrl: 'may-change',
  limit: 'may-change',
  sampleIds: 'may-change',
  failOnError: 'may-change',
  continueOnFail: 'may-change',
  retryOnError: 'may-change',
  retryInfra: 'may-change',
  sourceErrors: 'may-change',
  earlyStopping: 'may-change',
  reducers: 'may-change',
  prefetch: 'may-change',
  allow: 'may-change',
  transport: 'may-change',
  fsync: 'may-change',
  status: 'may-change',
  metadata: 'may-change',
  tags: 'may-change',
  // What says nothing of the samples, or is a gate of its own.
  name: 'not-compared',
  models: 'not-compared',
  aliases: 'not-compared',
  secrets: 'not-compared',
  setup: 'not-compared',
  logDir: 'not-compared',
  keep: 'not-compared',
  noBuild: 'not-compared',
  reaper: 'not-compared',
  serviceLogs: 'not-compared',
  keepArtifacts: 'not-compared',
  removeImages: 'not-compared',
  providers: 'not-compared',
  signal: 'not-compared',
  sleep: 'not-compared',
  onStart: 'not-compared',
  onEvent: 'not-compared',
  resume: 'not-compared',
  only: 'not-compared',
  set: 'not-compared',
} satisfies Record<keyof EvaluateOptions | keyof TaskDefinition | keyof TaskMeta, Rule>

/** How models are reached, how patiently, and whether answers are kept, says nothing of what they answer. */
const TRANSPORT = ['maxConnections', 'maxRetries', 'attemptTimeoutMs', 'cache', 'cachePrompt']

function generateConfigOf({ generateConfig = {} }: HeaderRecord): unknown {
  return Object.fromEntries(Object.entries(generateConfig).filter(([name]) => !TRANSPORT.includes(name)))
}

function rolesOf({ modelRoles }: HeaderRecord): unknown {
  return (
    modelRoles &&
    Object.fromEntries(Object.entries(modelRoles).map(([role, { model, args }]) => [role, { model, args }]))
  )
}

function kindAndCount({ kind, count }: { kind: string; count: number }) {
  return { kind, count }
}

/** What was asked for and, by description, the content: a key stands for all that makes a difference. */
function sandboxOf({ identity, config }: HeaderRecord): unknown {
  const keys = new Map<string, string[]>()
  for (const { kind, description, key } of config.sandboxes) {
    const name = `${kind}: ${description}`
    keys.set(name, [...(keys.get(name) ?? []), key])
  }
  // What has several keys is filled in from metadata: that is compared sample by sample.
  const plain = [...keys].flatMap(([name, [key, ...more]]) =>
    more.length === 0 ? [[name, key] as const] : [],
  )
  return { ...(identity && { asked: identity.sandbox ?? null }), ...(Object.fromEntries(plain) as object) }
}
