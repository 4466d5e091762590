import type { Command } from 'commander'
import { addSandboxCleanup } from './sandbox-cleanup.ts'
import { addSandboxList } from './sandbox-list.ts'
import { addSandboxPrune } from './sandbox-prune.ts'
import { addSandboxShell } from './sandbox-shell.ts'

/** `belljar sandbox list|cleanup|prune|shell` */
export function addSandboxCommand(program: Command, finish: (exitCode: number) => void): void {
  const sandbox = program.command('sandbox').description('see, enter and remove sandboxes')
  addSandboxList(sandbox, finish)
  addSandboxCleanup(sandbox, finish)
  addSandboxPrune(sandbox, finish)
  addSandboxShell(sandbox, finish)
}
