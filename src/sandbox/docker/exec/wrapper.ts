import { randomBytes } from 'node:crypto'

/** The variable by which the processes of one command are found when they must be killed. */
export const EXEC_VARIABLE = 'BELLJAR_EXEC'

/**
 * Runs "$@" as a child and reports over its own output, in marks that begin with a secret ($1):
 * `s<pid>` started, `c` no such cwd, `l<126|127>` the command could not be executed, `f` no process could be made,
 * `e<status>` ended: on both streams, after all that the command itself wrote there.
 * The shell outlives signals that are meant for the command, and its remarks on them go to /dev/null. `execfail` is for bash, which runs no trap when exec fails.
 */
const SCRIPT = `exec 3>&2 2>/dev/null
n=$1 d=$2
shift 2
trap 'printf "%sf;" "$n" >&3' EXIT
trap : TERM INT HUP
[ -z "$d" ] || cd "$d" || { trap - EXIT; printf '%sc;' "$n" >&3; exit 0; }
printf '%ss%s;' "$n" "$$" >&3
(
  trap 'printf "%sl%s;" "$n" "$?" >&2' EXIT
  [ -z "$BASH_VERSION" ] || shopt -s execfail 2>/dev/null
  exec "$@"
  exit "$?"
) 2>&3 3>&-
s=$?
trap - EXIT
printf '%se%s;' "$n" "$s"
printf '%se%s;' "$n" "$s" >&3
exit "$s"`

export interface WrappedCommand {
  readonly argv: readonly string[]
  /** What every mark begins with. */
  readonly prefix: string
  /** Value of EXEC_VARIABLE in every process of the command. */
  readonly id: string
}

/** `$d` begins with `/` or `./`, so `cd` takes it neither as an option, nor as `-`, nor through CDPATH. */
function cdArgument(cwd: string | undefined): string {
  if (cwd === undefined || cwd === '') return ''
  return cwd.startsWith('/') ? cwd : `./${cwd}`
}

export function wrapCommand(command: readonly string[], cwd: string | undefined): WrappedCommand {
  const prefix = `\x1e${randomBytes(16).toString('hex')}`
  const id = randomBytes(12).toString('hex')
  return { argv: ['sh', '-c', SCRIPT, 'sh', prefix, cdArgument(cwd), ...command], prefix, id }
}
