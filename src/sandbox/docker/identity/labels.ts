import type { SandboxIdentity, SandboxSelector } from '../../../sample/identity.ts'
import { owner } from './owner.ts'

const LABEL_BY_FIELD = {
  run: 'belljar.run',
  eval: 'belljar.eval',
  task: 'belljar.task',
  sample: 'belljar.sample',
  epoch: 'belljar.epoch',
  attempt: 'belljar.attempt',
} as const satisfies Record<Exclude<keyof SandboxIdentity, 'part'>, string>

/** Only on what belongs to a verifier's sandbox. */
const PART_LABEL = 'belljar.part'

export const RUN_LABEL = LABEL_BY_FIELD.run
export const OWNER_LABEL = 'belljar.owner'
export const CACHE_LABEL = 'belljar.cache'
/** `true` on the container whose life is that of its run, `held` on what belongs to a run that has such a container. */
export const ANCHOR_LABEL = 'belljar.anchor'
/** On what may outlive its run on purpose. */
export const KEEP_LABEL = 'belljar.keep'
/** On containers beside the services, in which nobody acts. */
export const HELPER_LABEL = 'belljar.helper'
export const PROJECT_LABEL = 'com.docker.compose.project'
export const SERVICE_LABEL = 'com.docker.compose.service'
export const NUMBER_LABEL = 'com.docker.compose.container-number'

type Field = keyof typeof LABEL_BY_FIELD
const FIELDS = Object.keys(LABEL_BY_FIELD) as Field[]

/** The labels of everything that is made for one sandbox. Label values hold any text, so ids stand there as they are. */
export function identityLabels(identity: SandboxIdentity, project: string): Record<string, string> {
  const own = FIELDS.map((field) => [LABEL_BY_FIELD[field], String(identity[field])])
  const part = identity.part && { [PART_LABEL]: identity.part }
  return { ...Object.fromEntries(own), ...part, [OWNER_LABEL]: owner(), [PROJECT_LABEL]: project }
}

/** What an object belongs to; undefined when it carries no complete identity. */
export function identityFromLabels(labels: Readonly<Record<string, string>>): SandboxIdentity | undefined {
  const text = (field: Field) => labels[LABEL_BY_FIELD[field]]
  if (FIELDS.some((field) => text(field) === undefined)) return undefined
  return {
    run: text('run') ?? '',
    eval: text('eval') ?? '',
    task: text('task') ?? '',
    sample: text('sample') ?? '',
    epoch: Number(text('epoch')),
    attempt: Number(text('attempt')),
    ...(labels[PART_LABEL] === 'verifier' && { part: 'verifier' as const }),
  }
}

/** The Engine's list filter for a selector. */
export function selectorFilter(selector: SandboxSelector): { label: string[] } {
  const given = FIELDS.filter((field) => selector[field] !== undefined)
  const labels = given.map((field) => `${LABEL_BY_FIELD[field]}=${selector[field]}`)
  return { label: selector.part ? [...labels, `${PART_LABEL}=${selector.part}`] : labels }
}
