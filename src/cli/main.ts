#!/usr/bin/env node
import { Command, CommanderError } from 'commander'
import { BelljarError, errorMessage } from '../errors.ts'
import { escapeText } from '../util/terminal.ts'
import { VERSION } from '../util/version.ts'
import { EXIT_CODES } from './exit-code.ts'
import { addLogCommand } from './log/log-command.ts'
import { addRetryCommand } from './retry.ts'
import { addRunCommand } from './run.ts'
import { addSandboxCommand } from './sandbox/sandbox.ts'
import { addScoreCommand } from './score.ts'
import { addSetCommand } from './set.ts'
import { addTasksCommand } from './tasks.ts'

async function main(argv: readonly string[]): Promise<number> {
  let code: number = EXIT_CODES.success
  const finish = (exitCode: number) => {
    code = exitCode
  }
  const program = new Command('belljar')
    .description('evaluate AI agents inside sealed containers')
    .version(VERSION)
  program.exitOverride().configureHelp({ showGlobalOptions: true })
  addRunCommand(program, finish)
  addRetryCommand(program, finish)
  addScoreCommand(program, finish)
  addSetCommand(program, finish)
  addTasksCommand(program, finish)
  addLogCommand(program, finish)
  addSandboxCommand(program, finish)
  for (const command of program.commands) command.exitOverride()
  try {
    await program.parseAsync([...argv])
    return code
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODES.success : EXIT_CODES.usage
    // evaluate() throws only before anything was started.
    const isUsage = error instanceof BelljarError
    const text = isUsage || !(error instanceof Error) ? errorMessage(error) : (error.stack ?? error.message)
    process.stderr.write(`error: ${escapeText(text)}\n`)
    return isUsage ? EXIT_CODES.usage : EXIT_CODES.evalFailed
  }
}

const code = await main(process.argv)
// What a run that was told to stop has given up on would keep the process alive.
if (code >= EXIT_CODES.SIGHUP) process.exit(code)
process.exitCode = code
