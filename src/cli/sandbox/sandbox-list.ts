import type { Command } from 'commander'
import type { SandboxOverview } from '../../sandbox/docker/ownership/overview.ts'
import { age } from '../../util/quantities.ts'
import { escapeLine, table } from '../../util/terminal.ts'
import { type Output, processOutput } from '../show/output.ts'

/** `belljar sandbox list` */
export function addSandboxList(sandbox: Command, finish: (exitCode: number) => void): void {
  sandbox
    .command('list')
    .description('list the sandboxes on the Docker engine, and whose they are')
    .option('--json', 'one object a line on stdout')
    .action(async (flags: { json?: boolean }) => finish(await list(flags, processOutput())))
}

async function list(flags: { json?: boolean }, output: Output): Promise<number> {
  const { listSandboxes } = await import('../../sandbox/docker/ownership/list-sandboxes.ts')
  const sandboxes = await listSandboxes()
  if (flags.json) for (const sandbox of sandboxes) output.json({ type: 'sandbox', ...sandbox })
  else output.line(sandboxes.length === 0 ? 'no sandboxes' : sandboxTable(sandboxes))
  return 0
}

function sandboxTable(sandboxes: readonly SandboxOverview[]): string {
  const heading = ['run', 'owner', 'task', 'sample', 'epoch', 'age', 'run is', 'containers']
  const rows = sandboxes.map(({ run, owner, identity, ageMs, belongs, ...objects }) => [
    escapeLine(run, 40),
    escapeLine(owner ?? '-', 40),
    escapeLine(identity?.task ?? '-', 40),
    escapeLine(identity?.sample ?? '-', 40),
    identity ? String(identity.epoch) : '-',
    age(ageMs),
    belongs,
    contents(objects),
  ])
  return table([heading, ...rows])
}

function contents({
  containers,
  networks,
  volumes,
}: Pick<SandboxOverview, 'containers' | 'networks' | 'volumes'>): string {
  const parts = containers.map(({ name, state }) => `${escapeLine(name, 80)} (${escapeLine(state, 20)})`)
  if (networks > 0) parts.push(`networks: ${networks}`)
  if (volumes > 0) parts.push(`volumes: ${volumes}`)
  return parts.join(', ')
}
