import { BelljarError } from '../../../errors.ts'
import type { SandboxIdentity } from '../../../sample/identity.ts'
import { shellQuote } from '../../../util/terminal.ts'
import type { KeptSandbox } from '../../provider.ts'
import type { Engine } from '../engine/engine.ts'
import { HELPER_LABEL, PROJECT_LABEL, SERVICE_LABEL, selectorFilter } from '../identity/labels.ts'
import { listObjects } from '../remove.ts'

/** Finds what a sandbox consists of and takes it out of what its run removes. @throws BelljarError when nothing is there */
export async function keepSandbox(
  engine: Engine,
  identity: SandboxIdentity,
  keepProject: (project: string) => void,
): Promise<KeptSandbox> {
  const objects = await listObjects(engine, selectorFilter(identity))
  const containers = objects.filter(({ kind }) => kind === 'container')
  if (containers.length === 0) throw new BelljarError('keep', 'there is no container of it')
  for (const { labels } of objects) {
    const project = labels[PROJECT_LABEL]
    if (project !== undefined) keepProject(project)
  }
  const entered = containers.filter(({ labels }) => labels[HELPER_LABEL] === undefined)
  const enter = entered.map(({ name, labels }) => [labels[SERVICE_LABEL] ?? name, shellCommand(name)])
  return { identity, enter: Object.fromEntries(enter), remove: removeCommand(identity) }
}

export function shellCommand(container: string): string {
  return `belljar sandbox shell ${container}`
}

function removeCommand({ run, sample, epoch }: SandboxIdentity): string {
  return `belljar sandbox cleanup ${shellQuote(`${run}/${sample}`)} --epoch ${epoch}`
}
