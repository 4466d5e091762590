import { basename } from 'node:path'
import { type ListedLog, listLogs } from '../../log/read/list-logs.ts'
import { escapeLine, table } from '../../util/terminal.ts'
import { EXIT_CODES } from '../exit-code.ts'
import { processOutput } from '../show/output.ts'

/** `belljar log list [DIR]` */
export async function list(directory: string, flags: { json?: boolean }): Promise<number> {
  const output = processOutput()
  const logs = await listLogs(directory)
  if (flags.json) {
    for (const log of logs) output.json(facts(log))
    return EXIT_CODES.success
  }
  if (logs.length === 0) output.line(`no logs in ${escapeLine(directory)}`)
  else output.line(table([['created', 'task', 'status', 'samples', 'scores', 'log'], ...logs.map(row)]))
  return EXIT_CODES.success
}

function facts({ path, status, header, footer, problem }: ListedLog) {
  return {
    path,
    status,
    problem,
    eval: header?.eval,
    run: header?.run,
    task: header?.task.name,
    model: header?.model,
    createdAt: header?.createdAt,
    completedAt: footer?.completedAt,
    totals: footer?.totals,
    scores: footer?.scores,
  }
}

function row({ path, status, header, footer, problem }: ListedLog): string[] {
  const scores = (footer?.scores ?? []).flatMap(({ scorer, metrics: [first] }) =>
    first ? [`${scorer} ${first.name}=${first.value?.toFixed(3) ?? '-'}`] : [],
  )
  return [
    header?.createdAt.replace(/\.\d+Z$/, 'Z') ?? '',
    escapeLine(header?.task.name ?? '', 40),
    status,
    footer ? String(footer.totals.total) : '',
    escapeLine(problem ?? scores.join(', '), 60),
    escapeLine(basename(path), 160),
  ]
}
