#!/usr/bin/env bash
# run.sh [PYTEST ARGUMENTS]: real assistants with our hooks, plugins and tools, against a stand-in for their models.
# Skipped with a word where it cannot run, never in CI. AGENT_TESTS=0 skips it by choice.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../.." && pwd)
python=$repository/.venv/bin/python
ready=$here/node_modules/.ready

skip() {
  [ "${CI:-}" = true ] && { echo "agent tests cannot run: $1"; exit 1; }
  echo "agent tests skipped: $1"
  exit 0
}

# The programs are taken as they are: nothing of theirs runs while they are installed.
install() {
  cmp --silent "$here/package.json" "$ready" && return
  rm -rf "$here/node_modules"
  npm --prefix "$here" install --ignore-scripts --no-audit --no-fund --loglevel=error
  cp "$here/package.json" "$ready"
}

[ "${AGENT_TESTS:-}" = 0 ] && skip "AGENT_TESTS is 0"
[ "$(uname -sm)" = "Linux x86_64" ] || skip "they need Linux on x86_64"
command -v npm >/dev/null || skip "npm is missing"

install
cd "$repository"
agents() { "$python" "$here/offline.py" "$python" -m pytest -q -m agents "$@"; }
# What failed beside others gets a second try alone.
agents -n 2 "${@:-$here}" || agents -n 0 --last-failed --last-failed-no-failures none "${@:-$here}"
