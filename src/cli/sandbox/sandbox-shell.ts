import { spawn } from 'node:child_process'
import type { Command } from 'commander'
import { ConfigError, errorMessage } from '../../errors.ts'
import { escapeLine, shellQuote } from '../../util/terminal.ts'
import { type Output, processOutput } from '../show/output.ts'

const SHELL = ['sh', '-c', 'command -v bash >/dev/null 2>&1 && exec bash || exec sh']

/** `belljar sandbox shell NAME` */
export function addSandboxShell(sandbox: Command, finish: (exitCode: number) => void): void {
  sandbox
    .command('shell')
    .description('open a shell in a sandbox; without a terminal, print the command that does')
    .argument('<name>', 'name of a container, or RUN/SAMPLE')
    .option('--service <name>', 'service of a sandbox that has several')
    .option('--user <user>', "as whom; default: the sandbox's user")
    .action(async (name: string, flags: ShellFlags) => finish(await shell(name, flags, processOutput())))
}

interface ShellFlags {
  readonly service?: string
  readonly user?: string
}

async function shell(name: string, flags: ShellFlags, output: Output): Promise<number> {
  const container = await findContainer(name, flags.service)
  const user = flags.user === undefined ? [] : ['--user', flags.user]
  const args = ['exec', '--interactive', '--tty', ...user, container, ...SHELL]
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    process.stdout.write(`${['docker', ...args].map(shellQuote).join(' ')}\n`)
    return 0
  }
  return new Promise((resolve) => {
    const child = spawn('docker', args, { stdio: 'inherit' })
    // The terminal sends its Ctrl-C to both; it is meant for what runs in the shell.
    process.on('SIGINT', () => undefined)
    child.on('error', (error) => {
      output.line(
        `error: cannot run docker (${errorMessage(error)}); elsewhere: docker ${args.map(shellQuote).join(' ')}`,
      )
      resolve(2)
    })
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

/** @throws ConfigError when there is none, or more than one */
async function findContainer(name: string, service: string | undefined): Promise<string> {
  const { listSandboxes } = await import('../../sandbox/docker/ownership/list-sandboxes.ts')
  const sandboxes = (await listSandboxes()).filter(({ identity }) => identity !== undefined)
  const all = sandboxes.flatMap(({ containers, run, identity }) =>
    containers.map((container) => ({ ...container, sandbox: `${run}/${identity?.sample}` })),
  )
  const named = all.filter((container) => container.name === name || container.sandbox === name)
  const found = named.filter((container) => service === undefined || container.service === service)
  const [only] = found
  if (only && found.length === 1) return only.name
  const choice = found.map((container) => `${container.name} (${container.service})`).join(', ')
  const message =
    found.length > 1
      ? `'${escapeLine(name)}' has several containers; name one of: ${escapeLine(choice, 1000)}`
      : `there is no sandbox container '${escapeLine(name)}'; \`belljar sandbox list\` shows what there is`
  throw new ConfigError(message)
}
