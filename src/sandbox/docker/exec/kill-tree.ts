import { EXEC_VARIABLE } from './wrapper.ts'

/**
 * Kills all that belongs to one command, in rounds until a round finds nothing: processes with its variable in their
 * environment, in the session of its wrapper ($2), or below one of these. Prints what is left after the last round.
 * /proc/PID/stat is `PID (NAME) STATE PPID PGRP SESSION`, and NAME may hold anything.
 */
const SCRIPT = `id=$1 session=$2 self=$$
stat_of() {
  line=
  while IFS= read -r part || [ -n "$part" ]; do line="$line $part"; done < "/proc/$1/stat"
  line=\${line##*") "}
}
marked() {
  if command -v grep >/dev/null; then grep -qsF "${EXEC_VARIABLE}=$id" "/proc/$1/environ"; return; fi
  text=
  while IFS= read -r part || [ -n "$part" ]; do text="$text $part"; done < "/proc/$1/environ"
  case $text in *"${EXEC_VARIABLE}=$id"*) return 0 ;; esac
  return 1
}
find_tree() {
  tree=' ' parents=
  for entry in /proc/[0-9]*; do
    pid=\${entry#/proc/}
    [ "$pid" != "$self" ] && [ "$pid" != 1 ] || continue
    stat_of "$pid" || continue
    set -- $line
    [ -n "$4" ] && [ "$1" != Z ] && [ "$1" != X ] || continue
    parents="$parents $pid:$2"
    if [ "$4" = "$session" ] || marked "$pid"; then tree="$tree$pid "; fi
  done
  grown=1
  while [ -n "$grown" ]; do
    grown=
    for pair in $parents; do
      case $tree in *" \${pair%:*} "*) continue ;; esac
      case $tree in *" \${pair#*:} "*) tree="$tree\${pair%:*} " grown=1 ;; esac
    done
  done
}
round=0
while [ "$round" -lt 200 ]; do
  find_tree
  [ "$tree" != ' ' ] || exit 0
  kill -9 $tree
  round=$((round + 1))
  [ "$round" -lt 5 ] || sleep 0.05 || sleep 1
done
echo "$tree"
exit 9`

/** The argv that kills the command `id`, whose wrapper has the process id `wrapperPid`; to be run as root. */
export function killTreeCommand(id: string, wrapperPid: number | undefined): string[] {
  return ['sh', '-c', `{ ${SCRIPT}\n} 2>/dev/null`, 'sh', id, String(wrapperPid ?? 'none')]
}
