import { readdirSync } from 'node:fs'
import { type BenchRow, formatTable } from './table.ts'

const HELPERS = ['main.ts', 'table.ts']

function benchNames(): string[] {
  const files = readdirSync(import.meta.dirname).filter(
    (file) => file.endsWith('.ts') && !HELPERS.includes(file),
  )
  return files.map((file) => file.slice(0, -'.ts'.length)).sort()
}

async function main(args: readonly string[]): Promise<number> {
  const names = args.filter((arg) => !arg.startsWith('--'))
  const unknownFlag = args.find((arg) => arg.startsWith('--') && arg !== '--json')
  const [name] = names
  if (unknownFlag || names.length !== 1 || !name || !benchNames().includes(name)) {
    process.stderr.write(
      `usage: npm run -s bench -- NAME [--json]; NAME is one of ${benchNames().join(', ')}\n`,
    )
    return 2
  }
  const bench = (await import(`./${name}.ts`)) as { run(): Promise<BenchRow[]> }
  const rows = await bench.run()
  const lines = args.includes('--json') ? rows.map((row) => JSON.stringify(row)) : [formatTable(rows)]
  process.stdout.write(`${lines.join('\n')}\n`)
  return 0
}

process.exitCode = await main(process.argv.slice(2))
