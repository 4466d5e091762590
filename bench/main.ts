import { readdirSync } from 'node:fs'
import { type BenchRow, formatTable } from './table.ts'

const HELPERS = ['main.ts', 'table.ts']
const FLAGS = ['--seed', '--samples']

function benchNames(): string[] {
  const files = readdirSync(import.meta.dirname).filter(
    (file) => file.endsWith('.ts') && !HELPERS.includes(file),
  )
  return files.map((file) => file.slice(0, -'.ts'.length)).sort()
}

/** `--name N`, and `--json`; undefined where something else is there. */
function parse(args: readonly string[]): { names: string[]; flags: Map<string, number> } | undefined {
  const [names, flags] = [[] as string[], new Map<string, number>()]
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? ''
    if (arg === '--json') continue
    if (!arg.startsWith('--')) names.push(arg)
    else {
      index += 1
      if (!FLAGS.includes(arg) || !/^\d+$/.test(args[index] ?? '')) return undefined
      flags.set(arg.slice(2), Number(args[index]))
    }
  }
  return { names, flags }
}

async function main(args: readonly string[]): Promise<number> {
  const parsed = parse(args)
  const [name, ...others] = parsed?.names ?? []
  if (!parsed || others.length > 0 || !name || !benchNames().includes(name)) {
    process.stderr.write(
      `usage: npm run -s bench -- NAME [--json]; NAME is one of ${benchNames().join(', ')}; faults takes --seed N and --samples N\n`,
    )
    return 2
  }
  const bench = (await import(`./${name}.ts`)) as {
    run(flags: ReadonlyMap<string, number>): Promise<BenchRow[]>
  }
  const rows = await bench.run(parsed.flags)
  const lines = args.includes('--json') ? rows.map((row) => JSON.stringify(row)) : [formatTable(rows)]
  process.stdout.write(`${lines.join('\n')}\n`)
  return 0
}

process.exitCode = await main(process.argv.slice(2))
