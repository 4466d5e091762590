# shellcheck shell=bash
# Sourced. Looks at processes through /proc.

process_runs() {
  local executable
  for executable in /proc/[0-9]*/exe; do
    ! is_program "$executable" "$1" || return 0
  done
  return 1
}

# A zombie has no executable; that of an upgraded program ends in " (deleted)".
is_program() {
  local path
  path=$(readlink "$1") || return 1
  path=${path% (deleted)}
  [ "${path##*/}" = "$2" ]
}

# Asks a process to end, and makes it end after 5 s.
end_process() {
  local process=$1 tries=0
  while [ -e "/proc/$process/exe" ] && readlink "/proc/$process/exe" >/dev/null; do
    if [ "$tries" -lt 50 ]; then kill "$process"; else kill -KILL "$process"; fi 2>/dev/null || return 0
    tries=$((tries + 1))
    sleep 0.1
  done
}
