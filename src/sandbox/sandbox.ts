import type { Duplex } from 'node:stream'

/** The view of one service of a sandbox that agents, tools and scorers hold. Paths are POSIX; relative ones start at the service's working directory. */
export interface Sandbox {
  /** Name of the service; `default` for a sandbox of one container. */
  readonly service: string
  /**
   * Runs argv as given, without a shell, and buffers its output. A command that fails is a value.
   * Settles when the main process has ended and its output has drained, even if a background child still holds the pipes.
   * @throws ExecTimeoutError, ExecAbortedError (process tree dead, partial output), SandboxUnavailableError
   */
  exec(command: readonly string[], options?: ExecOptions): Promise<ExecResult>
  /** Starts a command with live output. @throws SandboxUnavailableError, UnsupportedError */
  spawn(command: readonly string[], options?: SpawnOptions): Promise<SandboxProcess>
  /** @throws SandboxFileError, SandboxUnavailableError */
  readFile(path: string, options?: ReadOptions): Promise<Uint8Array>
  /** As `readFile`, decoded as UTF-8 with replacement. */
  readText(path: string, options?: ReadOptions): Promise<string>
  /** Writes atomically (temporary file, rename); parents are made with the same owner. @throws SandboxFileError, SandboxUnavailableError */
  writeFile(path: string, content: string | Uint8Array, options?: WriteOptions): Promise<void>
  /** Copies a file or directory of the host into the sandbox; modes, links and empty directories are kept. */
  upload(hostPath: string, path: string, options?: UploadOptions): Promise<void>
  /** Copies a file or directory out; nothing is ever written outside `hostPath`, whatever the sandbox offers. */
  download(path: string, hostPath: string, options?: DownloadOptions): Promise<void>
  stat(path: string, options?: UserOptions): Promise<FileStat>
  exists(path: string, options?: UserOptions): Promise<boolean>
  list(path: string, options?: UserOptions): Promise<FileEntry[]>
  remove(path: string, options?: RemoveOptions): Promise<void>
  /**
   * Opens a port on the loopback address inside the service. Each connection to it is handed to `onConnection` here, also where the
   * sandbox has no network. @throws SandboxUnavailableError, UnsupportedError (no guest, port taken)
   */
  listen(onConnection: (connection: Duplex) => void, options?: ListenOptions): Promise<SandboxListener>
  /** The command line with which a person on this host gets a shell in the service. */
  shellCommand(): string
}

export interface UserOptions {
  /** Name, uid or uid:gid; default: the service's own user. */
  readonly user?: string
  readonly signal?: AbortSignal
}

export interface ExecOptions extends UserOptions {
  readonly cwd?: string
  /** Added to the service's own environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Standard input; none means end of file at once. */
  readonly input?: string | Uint8Array
  /** Deadline in milliseconds, counted from the start of the command; none means no deadline. Must be > 0. */
  readonly timeoutMs?: number
  /** Cap per stream in bytes (default 10 MiB); over it the tail is kept. */
  readonly maxOutputBytes?: number
  /** Also returns the raw bytes as `raw`. */
  readonly raw?: boolean
}

export type LaunchErrorKind =
  | 'not-found'
  | 'not-executable'
  | 'no-such-user'
  | 'no-such-cwd'
  | 'arguments-too-long'
  | 'resources'
  | 'other'

export interface ExecResult {
  /** null when a signal ended the command or it never started. */
  readonly exitCode: number | null
  /** Name such as 'SIGKILL'. */
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  /** Bytes that the command wrote, kept or not. */
  readonly stdoutBytes: number
  readonly stderrBytes: number
  /** Whether either stream went over the cap. */
  readonly truncated: boolean
  readonly durationMs: number
  /** Set when the command never started. */
  readonly launchError?: { readonly kind: LaunchErrorKind; readonly message: string }
  readonly raw?: { readonly stdout: Uint8Array; readonly stderr: Uint8Array }
  /** Of the whole process tree, where the transport knows it. */
  readonly usage?: { readonly cpuMs: number; readonly peakMemoryBytes: number }
  /** Children of the command live on, where the transport knows it. */
  readonly background?: boolean
}

export interface SpawnOptions extends UserOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Keeps stdin open for `write`; default false (end of file at once). */
  readonly stdin?: boolean
  readonly timeoutMs?: number
  /** Gives the command a terminal; stderr is then empty. */
  readonly pty?: { readonly columns: number; readonly rows: number }
}

export interface SandboxProcess {
  /** Process id in the sandbox, where the transport knows it. */
  readonly pid: number | undefined
  readonly stdout: AsyncIterable<Uint8Array>
  readonly stderr: AsyncIterable<Uint8Array>
  /** Resolves when the sandbox has taken the data. */
  write(data: string | Uint8Array): Promise<void>
  closeStdin(): Promise<void>
  resize(columns: number, rows: number): Promise<void>
  /** Kills the whole process tree: SIGTERM, then SIGKILL after `graceMs` (default 0: SIGKILL at once). */
  kill(options?: { graceMs?: number }): Promise<void>
  wait(): Promise<ProcessExit>
}

export interface ProcessExit {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly durationMs: number
  readonly timedOut: boolean
  readonly launchError?: { readonly kind: LaunchErrorKind; readonly message: string }
}

export interface ListenOptions {
  /** Default: any that is free. */
  readonly port?: number
  /** Aborting it closes the port. */
  readonly signal?: AbortSignal
}

/** Disposing it closes the port and its connections. */
export interface SandboxListener extends AsyncDisposable {
  readonly port: number
  /** Resolves when it was closed; rejects when it was lost: with the sandbox, or ended from inside. */
  readonly closed: Promise<void>
}

export interface ReadOptions extends UserOptions {
  /** Refuses more bytes than this before any moves (default 100 MiB). */
  readonly maxBytes?: number
  readonly offset?: number
  readonly length?: number
}

export interface WriteOptions extends UserOptions {
  /** Permission bits such as 0o755; default: those of the file replaced, else 0o644. */
  readonly mode?: number
  readonly append?: boolean
  /** Replaces a link found at the path, instead of following it. */
  readonly replace?: boolean
}

export interface UploadOptions extends UserOptions {
  readonly mode?: number
  /** Replaces a link found where the file or folder is to be, and a file where the folder is to be. */
  readonly replace?: boolean
}

export interface DownloadOptions extends UserOptions {
  /** Total cap in bytes (default 1 GiB). */
  readonly maxBytes?: number
  /** Cap of files, folders and links (default 1,000,000). */
  readonly maxEntries?: number
  /** Leaves out what is no file, folder or link that stays inside, instead of failing once the rest is there (default false). */
  readonly skipUnsafe?: boolean
}

export interface RemoveOptions extends UserOptions {
  readonly recursive?: boolean
  /** No error when nothing is there. */
  readonly force?: boolean
}

export type FileType = 'file' | 'directory' | 'link' | 'fifo' | 'socket' | 'device'

/** Links are followed. */
export interface FileStat {
  readonly type: FileType
  readonly size: number
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly modifiedMs: number
}

/** Links are not followed. */
export interface FileEntry {
  readonly name: string
  readonly type: FileType
  readonly size: number
  readonly mode: number
}

export const DEFAULT_MAX_OUTPUT_BYTES = 10 * 1024 * 1024
export const DEFAULT_MAX_READ_BYTES = 100 * 1024 * 1024
export const DEFAULT_MAX_ENTRIES = 1_000_000
