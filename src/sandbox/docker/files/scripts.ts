import type { FileErrorKind } from '../../../errors.ts'

/** Exit codes by which the scripts say what was in the way. The tools' own words are never read. */
export const KIND_BY_EXIT_CODE: Readonly<Record<number, FileErrorKind>> = {
  60: 'not-found',
  61: 'permission',
  62: 'is-a-directory',
  63: 'not-a-regular-file',
  64: 'too-large',
  65: 'not-a-directory',
  66: 'invalid-path',
  67: 'no-space',
  68: 'read-only',
}

/**
 * `missing P`: why P cannot be seen, from its parents. `follow`: takes p to the end of its links, there or not.
 * `refused P`: why the existing P may not be written. `unwritten P`: why writing failed that is allowed. `blocked P`: why P cannot be made.
 * Some shells' tests tell root that all is writable, also where the file system is not.
 */
const PRELUDE = `missing() {
  rest=\${1#/} at=
  case $1 in /*) at=/ ;; esac
  while [ "$rest" != "\${rest#*/}" ]; do
    name=\${rest%%/*}
    rest=\${rest#*/}
    [ -n "$name" ] || continue
    at="$at$name"
    if [ -d "$at" ]; then [ -x "$at" ] || exit 61
    elif [ -e "$at" ] && [ ! -d "$at" ]; then exit 65
    else exit 60; fi
    at="$at/"
  done
  exit 60
}
exit_if_read_only() {
  target=$1 longest=-1 found=
  [ -d "$target" ] || target=\${target%/*}
  target=$(cd "\${target:-/}" && pwd -P)
  while read -r _ mount _ options _; do
    case "\${target%/}/" in
      "\${mount%/}/"*) [ "\${#mount}" -lt "$longest" ] || { longest=\${#mount} found=$options; } ;;
    esac
  done < /proc/mounts
  case $found in ro | ro,*) exit 68 ;; esac
}
refused() { exit_if_read_only "$1"; exit 61; }
unwritten() { exit_if_read_only "$1"; exit 67; }
blocked() {
  at=$1
  while [ ! -e "$at" ] && [ ! -L "$at" ]; do
    case $at in */?*) at=\${at%/*} ;; *) at=. ;; esac
    at=\${at:-/}
  done
  [ -d "$at" ] || exit 65
  [ -w "$at" ] && [ -x "$at" ] || refused "$at"
  unwritten "$at"
}
follow() {
  hops=0
  while [ -L "$p" ]; do
    [ "$hops" -lt 40 ] || exit 60
    hops=$((hops + 1))
    target=$(readlink -- "$p"; printf x)
    target=\${target%?x}
    case $target in /*) p=$target ;; *) p=\${p%/*}/$target ;; esac
  done
}
size_of() { stat -L -c %s -- "$1" 2>/dev/null || wc -c < "$1"; }
`

const READ = `p=$1 offset=$2 length=$3 most=$4
[ ! -d "$p" ] || exit 62
[ -e "$p" ] || missing "$p"
[ -f "$p" ] || exit 63
[ -r "$p" ] || exit 61
size=$(size_of "$p")
wanted=$((size - offset))
[ "$wanted" -ge 0 ] || wanted=0
[ "$length" -lt 0 ] || [ "$wanted" -lt "$length" ] || wanted=$length
if [ "$wanted" -gt "$most" ]; then printf %s "$wanted" >&2; exit 64; fi
if [ "$length" -lt 0 ]; then length=$((most + 1)); fi
if [ "$offset" = 0 ]; then head -c "$length" -- "$p" || exit 69
else
  # Not every tail takes an offset of many gigabytes.
  whole=$((offset / 1048576)) rest=$((offset % 1048576 + 1))
  if [ "$whole" -lt 1024 ]; then tail -c "+$((offset + 1))" -- "$p" | head -c "$length"
  else dd if="$p" bs=1048576 skip="$whole" 2>/dev/null | tail -c "+$rest" | head -c "$length"; fi
fi`

const WRITE = `p=$1 mode=$2 append=$3 bytes=$4 nonce=$5
case $p in */) exit 62 ;; esac
[ ! -d "$p" ] || exit 62
follow
[ ! -d "$p" ] || exit 62
dir=\${p%/*}
dir=\${dir:-/}
if [ -e "$p" ]; then
  [ -f "$p" ] || exit 63
  [ -w "$p" ] || refused "$p"
fi
[ -d "$dir" ] || mkdir -p -- "$dir" 2>/dev/null || blocked "$dir"
old=0
[ "$append" = 0 ] || [ ! -f "$p" ] || old=$(size_of "$p")
tmp=$dir/.belljar-$nonce
if ! true > "$tmp" 2>/dev/null; then
  [ -e "$p" ] || blocked "$p"
  if [ "$append" = 1 ]; then cat >> "$p"; else cat > "$p"; fi || unwritten "$p"
  [ "$(size_of "$p")" = "$((old + bytes))" ] || exit 69
  [ -z "$mode" ] || chmod "$mode" "$p" || exit 61
  exit 0
fi
trap 'rm -f -- "$tmp"' EXIT
chmod 600 "$tmp"
if [ "$append" = 1 ] && [ -f "$p" ]; then cat -- "$p" - > "$tmp" || exit 67; else cat > "$tmp" || exit 67; fi
[ "$(size_of "$tmp")" = "$((old + bytes))" ] || exit 69
if [ -e "$p" ]; then
  [ -n "$mode" ] || mode=$(stat -L -c %a -- "$p")
  [ "$(id -u)" != 0 ] || chown "$(stat -L -c %u:%g -- "$p")" "$tmp" 2>/dev/null
fi
chmod "\${mode:-644}" "$tmp" || exit 69
mv -f -- "$tmp" "$p" 2>/dev/null || cat -- "$tmp" > "$p" || exit 67`

/** Removes what an interrupted WRITE of the same path and nonce has left. */
const DISCARD = `p=$1 nonce=$2
follow
rm -f -- "\${p%/*}/.belljar-$nonce"`

const STAT = `p=$1
[ -e "$p" ] || missing "$p"
stat -L -c '%f %s %u %g %Y' -- "$p"`

const LIST = `p=$1
[ -e "$p" ] || missing "$p"
[ -d "$p" ] || exit 65
[ -r "$p" ] && cd "$p" 2>/dev/null || exit 61
set -- .[!.]* ..?* *
for name do
  shift
  if [ -e "$name" ] || [ -L "$name" ]; then set -- "$@" "./$name"; fi
done
[ "$#" -gt 0 ] || exit 0
printf '%s\\0' "$@"
printf '\\0'
stat -c '%f %s' -- "$@" 2>/dev/null && exit 0
printf '\\0'
for name do stat -c '%f %s' -- "$name" 2>/dev/null || echo gone; done`

const REMOVE = `p=$1 recursive=$2 force=$3
if [ ! -e "$p" ] && [ ! -L "$p" ]; then
  (missing "$p")
  why=$?
  [ "$force" = 1 ] && [ "$why" = 60 ] && exit 0
  exit "$why"
fi
if [ -d "$p" ] && [ ! -L "$p" ]; then
  [ "$recursive" = 1 ] || exit 62
  rm -rf -- "$p" 2>/dev/null && exit 0
else
  rm -f -- "$p" 2>/dev/null && exit 0
fi
parent=\${p%/*}
refused "\${parent:-/}"`

/** Removes a link, or where a folder is to be also a file. */
const UNLINK = `p=$1 folder=$2
if [ -L "$p" ] || { [ "$folder" = 1 ] && [ -e "$p" ] && [ ! -d "$p" ]; }; then
  rm -f -- "$p" 2>/dev/null || refused "\${p%/*}"
fi`

/** Makes the folder $1 and says where it really is and who the acting user is. */
const TARGET = `dir=$1
[ -d "$dir" ] || mkdir -p -- "$dir" 2>/dev/null || blocked "$dir"
[ -w "$dir" ] && cd "$dir" 2>/dev/null || refused "$dir"
has_tar=0
! command -v tar >/dev/null || has_tar=1
printf '%s %s %s ' "$has_tar" "$(id -u)" "$(id -g)"
pwd -P`

const SCRIPTS = {
  read: READ,
  write: WRITE,
  discard: DISCARD,
  stat: STAT,
  list: LIST,
  remove: REMOVE,
  unlink: UNLINK,
  target: TARGET,
} as const

export type FileScript = keyof typeof SCRIPTS

/** argv of a script; paths reach it as arguments, never as text of the script. */
export function scriptCommand(script: FileScript, args: readonly (string | number)[]): string[] {
  return ['sh', '-c', PRELUDE + SCRIPTS[script], 'sh', ...args.map(String)]
}
