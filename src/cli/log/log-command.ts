import { type Command, Option } from 'commander'
import { LOG_FORMATS, type LogFormat } from '../../log/convert/convert-log.ts'
import { positiveInteger } from '../arguments.ts'
import { writeConverted } from './log-convert.ts'
import { list } from './log-list.ts'
import { recover } from './log-recover.ts'
import { type ShowFlags, show } from './log-show.ts'

/** `belljar log list | show | recover | convert` */
export function addLogCommand(program: Command, finish: (exitCode: number) => void): void {
  const log = program.command('log').description('read logs, also those that Inspect wrote')
  log
    .command('list')
    .description('list the logs of a folder')
    .argument('[dir]', 'folder of logs', 'logs')
    .option('--json', 'one object a log on stdout')
    .action(async (directory: string, flags: { json?: boolean }) => finish(await list(directory, flags)))
  log
    .command('show')
    .description('show an eval: its outcome, its samples and what went wrong')
    .argument('<log>', 'path of a log')
    .option('--sample <id>', 'one sample: its messages and what happened in it')
    .option('--epoch <n>', 'which epoch of the sample', positiveInteger, 1)
    .option('--json', 'records on stdout, one object a line')
    .action(async (path: string, flags: ShowFlags) => finish(await show(path, flags)))
  log
    .command('recover')
    .description('make a finished log of the journal of a run that was killed')
    .argument('<log>', 'path of a journal')
    .option('--json', 'what was recovered, as an object on stdout')
    .action(async (path: string, flags: { json?: boolean }) => finish(await recover(path, flags)))
  log
    .command('convert')
    .description("write a log in another form: json is Inspect's, jsonl a sample a line, csv a row a sample")
    .argument('<log>', 'path of a log')
    .addOption(new Option('--to <format>').choices(LOG_FORMATS).makeOptionMandatory())
    .option('--out <file>', 'file to write, which must not exist (default: stdout)')
    .action(async (path: string, flags: { to: LogFormat; out?: string }) =>
      finish(await writeConverted(path, flags)),
    )
}
