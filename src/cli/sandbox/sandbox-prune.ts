import { type Command, InvalidArgumentError } from 'commander'
import type { PrunedImage, PruneResult } from '../../sandbox/docker/cache/prune.ts'
import { age, bytes } from '../../util/quantities.ts'
import { escapeLine } from '../../util/terminal.ts'
import { EXIT_CODES } from '../exit-code.ts'
import { type Output, processOutput } from '../show/output.ts'

interface PruneFlags {
  /** Milliseconds. */
  readonly olderThan?: number
  readonly dryRun?: boolean
  readonly json?: boolean
}

/** `belljar sandbox prune` */
export function addSandboxPrune(sandbox: Command, finish: (exitCode: number) => void): void {
  sandbox
    .command('prune')
    .description('remove images that belljar made for runs and that nothing needs any more')
    .option('--older-than <time>', 'only those that no run has used for so long, such as 12h or 7d', timeSpan)
    .option('--dry-run', 'only say what would be removed')
    .option('--json', 'one object a line on stdout')
    .action(async (flags: PruneFlags) => finish(await prune(flags, processOutput())))
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds of a time such as `90m` or `7d`. */
export function timeSpan(text: string): number {
  const [, number, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? []
  if (number !== undefined) return Number(number) * (UNITS[unit] ?? 0)
  throw new InvalidArgumentError('expected a number with a unit: s, m, h or d.')
}

async function prune(flags: PruneFlags, output: Output): Promise<number> {
  const { pruneImages } = await import('../../sandbox/docker/cache/prune.ts')
  const { connectEngine } = await import('../../sandbox/docker/engine/engine.ts')
  const engine = await connectEngine()
  try {
    const { olderThan: olderThanMs, dryRun } = flags
    const result = await pruneImages(engine, { olderThanMs, dryRun })
    if (flags.json) report(result, output)
    else for (const line of describe(result, dryRun ?? false)) output.line(line)
    const left = result.images.some(({ outcome }) => outcome === 'left')
    return left ? EXIT_CODES.left : EXIT_CODES.success
  } finally {
    engine.close()
  }
}

function report({ images, freedBytes }: PruneResult, output: Output): void {
  for (const { name, bytes, idleMs, outcome, why } of images)
    output.json({ type: 'image', name, bytes, idleMs, outcome, why })
  output.json({ type: 'prune-end', freedBytes })
}

function describe({ images, freedBytes }: PruneResult, dryRun: boolean): string[] {
  const going = images.filter(({ outcome }) => outcome === 'removed' || outcome === 'would remove')
  const sum = going.reduce((total, image) => total + image.bytes, 0)
  const count = `${going.length} of ${images.length} images`
  const end = dryRun
    ? `would remove ${count}, ${bytes(sum)} with the layers that they share`
    : `removed ${count}; ${bytes(freedBytes)} came free`
  return [...images.map(imageLine), images.length === 0 ? 'nothing to remove' : end]
}

function imageLine({ name, outcome, bytes: size, idleMs, why }: PrunedImage): string {
  const facts = `${bytes(size)}, last used ${age(idleMs)} ago`
  const reason = why === undefined ? '' : `: ${escapeLine(why)}`
  return `${outcome === 'left' ? 'could not remove' : outcome} ${escapeLine(name)} (${facts})${reason}`
}
