import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findGuestBinary, guestArchitecture } from '../../../../src/sandbox/guest/binary.ts'
import { childStream } from '../../../../src/sandbox/guest/child-stream.ts'
import { type ConnectionOptions, GuestConnection } from '../../../../src/sandbox/guest/connection.ts'
import { GuestSandbox } from '../../../../src/sandbox/guest/guest-sandbox.ts'

const architecture = guestArchitecture(process.arch)
export const guestBinary =
  process.env.BELLJAR_GUEST ?? (architecture && findGuestBinary(architecture)) ?? 'no guest was built'
export const hasGuest = process.platform === 'linux' && existsSync(guestBinary)
export const isRoot = process.getuid?.() === 0

export interface RunningGuest extends AsyncDisposable {
  readonly child: ChildProcessWithoutNullStreams
  readonly connection: GuestConnection
  readonly sandbox: GuestSandbox
  readonly folder: string
}

export interface GuestOptions extends ConnectionOptions {
  /** false: it may switch users, as in a container. */
  readonly local?: boolean
  /** PID 1 of a namespace of its own. */
  readonly init?: boolean
}

/** A real guest over stdio, in a folder of its own. */
export async function runGuest(options: GuestOptions = {}): Promise<RunningGuest> {
  const folder = await mkdtemp(join(tmpdir(), 'belljar-guest-'))
  const prefix = options.init ? ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'] : []
  const flags = options.init || options.local === false ? [] : ['--local']
  const [file = '', ...words] = [...prefix, guestBinary, ...flags]
  const child = spawn(file, words, { cwd: folder, stdio: 'pipe' })
  const hello = { cwd: folder, ...options.hello }
  const connection = await GuestConnection.open(childStream(child), { ...options, hello })
  const sandbox = new GuestSandbox({
    service: 'default',
    connect: async () => connection,
    shellCommand: () => `cd ${folder}`,
    program: guestBinary,
  })
  return {
    child,
    connection,
    sandbox,
    folder,
    [Symbol.asyncDispose]: async () => {
      const exited =
        child.exitCode !== null ||
        child.signalCode !== null ||
        new Promise((resolve) => child.once('exit', resolve))
      connection.close()
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}
