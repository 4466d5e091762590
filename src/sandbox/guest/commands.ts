import type { GuestConnection } from './connection.ts'
import { readExit } from './exit.ts'
import { FieldWriter, fieldNumber, readFields } from './fields.ts'
import { FrameType, Tag } from './protocol.ts'

/** A command of which processes live, its main process or what it left behind. */
export interface GuestCommand {
  readonly id: number
  readonly name: string
  readonly pids: readonly number[]
}

export async function listCommands(connection: GuestConnection): Promise<GuestCommand[]> {
  const answer = await connection.request(FrameType.commands)
  const commands: Array<{ id: number; name: string; pids: number[] }> = []
  for (const { tag, bytes } of readFields(answer.payload)) {
    const command = commands.at(-1)
    if (tag === Tag.target) commands.push({ id: fieldNumber(bytes), name: '', pids: [] })
    else if (command && tag === Tag.argument) command.name = bytes.toString()
    else if (command && tag === Tag.pid) command.pids.push(fieldNumber(bytes))
  }
  return commands
}

/** Kills the whole tree of a command; resolves when it is dead. @throws SandboxUnavailableError where it cannot be killed */
export async function killCommand(
  connection: GuestConnection,
  command: Pick<GuestCommand, 'id' | 'name'>,
  options: { graceMs?: number } = {},
): Promise<void> {
  const fields = new FieldWriter().add(Tag.target, command.id).add(Tag.graceMs, options.graceMs ?? 0)
  const answer = await connection.request(FrameType.kill, fields.finish())
  if (answer.payload.length > 0) readExit(answer.payload, [command.name])
}
