#!/usr/bin/env bash
# run.sh [SIDECAR]: the dashboard in chromium, and the extension in a real VS Code, oldest and newest, with a real sidecar.
# Skipped with a word where it cannot run, never in CI. EDITOR_TESTS=0 skips it by choice,
# EDITOR_VERSIONS chooses versions, EDITOR_CHECKS chooses checks by name, EDITOR_SCREENSHOTS says where to put pictures of every screen.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../.." && pwd)
extension=$repository/editors/vscode
sidecar=$(realpath --no-symlinks "${1:-${THREADLINE:-$repository/.venv/bin/threadline}}")
cache=${EDITOR_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/threadline-editors}
versions=${EDITOR_VERSIONS:-1.105.1 1.139.1}

skip() {
  [ "${CI:-}" = true ] && { echo "editor tests cannot run: $1"; exit 1; }
  echo "editor tests skipped: $1"
  exit 0
}

find_chromium() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

install_chromium() {
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core
}

install_editor() {
  case $1 in
    1.105.1) "$here/setup.sh" "$cache/$1" 4.105.1 ;;
    1.139.1) "$here/setup.sh" "$cache/$1" 4.139.1 24 ;;
    *) echo "no recipe for VS Code $1"; return 1 ;;
  esac
}

install_packages() { npm --prefix "$1" install --no-audit --no-fund --loglevel=error; }

build_extension() { make --no-print-directory -C "$repository" vsix; }

# Everything is fetched at once; what it says is shown only if it fails.
prepare() {
  local log jobs=() job
  log=$(mktemp)
  [ -n "$(find_chromium)" ] || { install_chromium >"$log.chromium" 2>&1 & jobs+=($!); }
  [ -d "$here/node_modules" ] || { install_packages "$here" >"$log.packages" 2>&1 & jobs+=($!); }
  build_extension >"$log.extension" 2>&1 & jobs+=($!)
  for version in $versions; do
    install_editor "$version" >"$log.$version" 2>&1 & jobs+=($!)
  done
  for job in "${jobs[@]}"; do
    wait "$job" || { cat "$log".*; exit 1; }
  done
  rm -f "$log" "$log".*
}

[ "${EDITOR_TESTS:-}" = 0 ] && skip "EDITOR_TESTS is 0"
[ "$(uname -sm)" = "Linux x86_64" ] || skip "they need Linux on x86_64"
command -v npm >/dev/null || skip "npm is missing"
[ -n "$(find_chromium)" ] || [ "$(id -u)" = 0 ] || skip "chromium is missing, and only root can install it"
[ -x "$sidecar" ] || { echo "no sidecar at $sidecar"; exit 1; }

prepare
version=$(node -p "require('$extension/package.json').version")
export CHROMIUM=$(find_chromium)
node "$here/dashboard.mjs" "$sidecar"
exec node "$here/run.mjs" \
  "$sidecar" "$cache" "$extension" "$repository/dist/threadline-$version.vsix" $versions
