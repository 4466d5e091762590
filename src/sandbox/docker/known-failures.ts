/** What the Engine's exec cannot do, however it is driven: by name, for suites that prove the rest. */
export interface KnownFailure {
  readonly name: string
  readonly reason: string
  /** Names of the conformance checks that fail for it. */
  readonly checks?: readonly string[]
}

export const ENGINE_KNOWN_FAILURES: readonly KnownFailure[] = [
  {
    name: 'signal-of-exit',
    reason:
      'a command that a signal ended has exit code 128 + signal, as a shell reports it; `signal` is null',
    checks: ['a command that a signal ends says which, and has no exit code'],
  },
  {
    name: 'no-shell',
    reason: 'an image without /bin/sh cannot run commands or files through this transport (UnsupportedError)',
    checks: [
      'no shell: commands run, with arguments, input, environment and exit code',
      'no shell: a deadline kills what runs',
      'no shell: files go in and out',
    ],
  },
  {
    name: 'file-tools',
    reason:
      'file calls need cat, head, tail, stat, chmod, mv, rm, mkdir (and tar for folders) in the image; modification times are whole seconds',
  },
  {
    name: 'replace-inside-a-folder',
    reason:
      'an upload with `replace` replaces what is at its path; links below it are replaced or followed as the tar of the image does',
  },
  {
    name: 'script-without-shebang',
    reason: 'a text file without #! that is executable runs as a shell script instead of failing to launch',
    checks: ['a text file without an interpreter line does not run as a script'],
  },
  {
    name: 'leading-dash-command',
    reason: 'a command whose name begins with a dash is not looked up in PATH by every shell',
  },
  {
    name: 'detached-and-cleared-environment',
    reason:
      'a process that has cleared its environment, started a session and lost its parent is not found by the kill of its command',
    checks: ['a deadline kills what has cleared its environment, left its session and lost its parent'],
  },
  {
    name: 'background-output-after-end',
    reason:
      'the Engine closes the pipes of an exec some seconds after its main process has ended; a background child that writes to them later gets SIGPIPE',
  },
  {
    name: 'kill-everything',
    reason:
      '`kill -9 -1` by root in the sandbox also ends the process that keeps the container alive: the sandbox is unavailable',
    checks: [
      'hostile, default: a sandbox survives kill -9 -1',
      'hostile, non-root: a sandbox survives kill -9 -1',
      'hostile, strict: a sandbox survives kill -9 -1',
    ],
  },
  {
    name: 'forged-results',
    reason:
      'root in the sandbox can replace its shell and tools, and so forge the results of commands and file calls of others',
  },
  {
    name: 'deadline-on-the-host',
    reason: 'deadlines are measured by the host from the start mark, so they are late when the host is busy',
  },
  {
    name: 'interleaving-of-streams',
    reason: 'the order of standard output relative to standard error is lost',
  },
  {
    name: 'memory-and-cpu-of-command',
    reason: 'the resource use of a single command is not known',
  },
  {
    name: 'pty-stop',
    reason: 'with a terminal the wrapper shares the foreground group: ^Z stops both',
  },
]
