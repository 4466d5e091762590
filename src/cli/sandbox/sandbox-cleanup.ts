import type { Command } from 'commander'
import { ConfigError } from '../../errors.ts'
import type { CleanupResult } from '../../sandbox/docker/ownership/cleanup.ts'
import { sleep } from '../../util/abort.ts'
import { escapeLine } from '../../util/terminal.ts'
import { positiveInteger } from '../arguments.ts'
import { EXIT_CODES } from '../exit-code.ts'
import { type Output, processOutput } from '../show/output.ts'
import { leftMessage } from '../show/summary.ts'

interface CleanupFlags {
  readonly force?: boolean
  readonly dryRun?: boolean
  readonly epoch?: number
}

/** `belljar sandbox cleanup [RUN|RUN/SAMPLE]` */
export function addSandboxCleanup(sandbox: Command, finish: (exitCode: number) => void): void {
  sandbox
    .command('cleanup')
    .description('remove what dead runs have left, or what one run or sample has')
    .argument('[which]', 'RUN or RUN/SAMPLE; left out: whatever belongs to no live run')
    .option('--epoch <n>', 'only this epoch of the sample', positiveInteger)
    .option('--force', 'also what is in use by a live run')
    .option('--dry-run', 'only say what would be removed')
    .action(async (which: string | undefined, flags: CleanupFlags) =>
      finish(await cleanup(which, flags, processOutput())),
    )
}

async function cleanup(which: string | undefined, flags: CleanupFlags, output: Output): Promise<number> {
  if (which === undefined && (flags.force || flags.epoch !== undefined))
    throw new ConfigError('--force and --epoch need the run or sample that is meant', {
      where: 'belljar sandbox cleanup',
    })
  const [, run, sample] = /^([^/]+)(?:\/(.+))?$/s.exec(which ?? '') ?? []
  const { cleanUp } = await import('../../sandbox/docker/ownership/cleanup.ts')
  const { connectEngine } = await import('../../sandbox/docker/engine/engine.ts')
  const engine = await connectEngine()
  try {
    const result = await cleanUp(engine, {
      ...flags,
      ...(run !== undefined && { run }),
      ...(sample !== undefined && { sample }),
      onWait: (runs, ms) => output.line(waitMessage(runs, ms)),
      sleep,
      now: () => performance.now(),
    })
    report(result, flags, output)
    return result.left.length > 0 ? EXIT_CODES.left : EXIT_CODES.success
  } finally {
    engine.close()
  }
}

function waitMessage(runs: readonly string[], ms: number): string {
  const which = runs.map((run) => escapeLine(run, 40)).join(', ')
  return `${which}: no sign of life, but one look proves nothing; looking again in ${Math.ceil(ms / 1000)} s`
}

function report({ objects, inUse, unknown, left }: CleanupResult, flags: CleanupFlags, output: Output): void {
  for (const run of inUse) output.line(`${escapeLine(run, 40)}: in use (--force removes it all the same)`)
  for (const run of unknown)
    output.line(`${escapeLine(run, 40)}: nobody can tell from here whether it lives (--force removes it)`)
  const failed = new Set(left.map(({ kind, name }) => `${kind} ${name}`))
  const gone = objects.map(({ kind, name }) => `${kind} ${name}`).filter((name) => !failed.has(name))
  const verb = flags.dryRun ? 'would remove' : 'removed'
  for (const name of gone) output.line(`${verb} ${escapeLine(name)}`)
  if (objects.length === 0) output.line('nothing to remove')
  if (left.length > 0) output.line(leftMessage(left))
}
