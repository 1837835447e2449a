# steps.sh — sourced by the scripts: how a step is announced, timed, and what is said when it fails.
#
# The caller has set -euo pipefail and stands in the project's folder.

LOGS=build/logs
RESULTS=build/results
mkdir -p "$LOGS" "$RESULTS"

say() { printf '%s\n' "$*"; }
die() { printf '\n%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# step TITLE HINT COMMAND...   Output goes to a log; on failure its end and the hint are shown, and the script stops.
step() {
  local title=$1 hint=$2 start=$SECONDS log
  shift 2
  log="$LOGS/$(tr -cs 'a-zA-Z0-9' '-' <<<"$title" | sed 's/-*$//').log"
  printf '  %-52s' "$title"
  if "$@" >"$log" 2>&1 </dev/null; then
    printf '%4d s\n' "$((SECONDS - start))"
  else
    printf 'failed after %d s\n' "$((SECONDS - start))"
    tail -n 12 "$log" | cut -c1-200 | sed 's/^/    /' >&2
    die "$title failed (whole log: $log). $hint"
  fi
}

# suite NAME COMMAND...   Runs tests that leave $RESULTS/NAME.xml or NAME.tap; a failure is remembered, not fatal.
suite() {
  local name=$1 start=$SECONDS
  shift
  rm -f "$RESULTS/$name".*
  say "== $name"
  if "$@" </dev/null; then :; else echo "exit status $?" >"$RESULTS/$name.failed"; fi
  say "== $name: $((SECONDS - start)) s"
}

# check NAME COMMAND...   Like suite, for a command whose exit status is its only result.
check() {
  suite "$@"
  [ -f "$RESULTS/$1.failed" ] || printf '# pass 1\n# fail 0\n' >"$RESULTS/$1.tap"
}
