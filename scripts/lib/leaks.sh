# shellcheck shell=bash
# Sourced. What runs left in Docker.

# One line for each object that belongs to a run: what it is, its id, its name.
run_objects() {
  docker ps --all --no-trunc --filter label=belljar.run --format 'container {{.ID}} {{.Names}}' &&
  docker network ls --no-trunc --filter label=belljar.run --format 'network {{.ID}} {{.Name}}' &&
  docker volume ls --filter label=belljar.run --format 'volume {{.Name}} {{.Name}}'
}

# Succeeds when nothing is there that was not there BEFORE. The engine may take a moment to remove what is ended.
nothing_left() {
  local left deadline=$((SECONDS + 5))
  while true; do
    left=$(objects_since "$1") || return 1
    [ -n "$left" ] || break
    if [ "$SECONDS" -ge "$deadline" ]; then
      printf 'left in Docker:\n%s\n' "$left"
      return 1
    fi
    sleep 0.5
  done
  say 'nothing is left in Docker'
}

objects_since() {
  local now
  now=$(run_objects) || return 1
  comm -13 <(sort <<<"$1") <(sort <<<"$now")
}
