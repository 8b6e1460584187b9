#!/usr/bin/env bash
# install.sh VSIX: puts the extension into every editor of this machine, and says for each what happened.
set -uo pipefail
vsix=$1
# The program on the PATH, the editor's name, and where its application keeps the program on a Mac.
editors='code|VS Code|Visual Studio Code
code-insiders|VS Code Insiders|Visual Studio Code - Insiders
codium|VSCodium|VSCodium
cursor|Cursor|Cursor
windsurf|Windsurf|Windsurf
devin-desktop|Devin|Devin
antigravity|Antigravity|Antigravity
kiro|Kiro|Kiro'
applications=${APPLICATIONS:-/Applications}

find_program() {
  command -v "$1" && return
  local bundled="$applications/$2.app/Contents/Resources/app/bin/$1"
  [ -x "$bundled" ] && echo "$bundled"
}

found=0 failed=0
while IFS='|' read -r command name application; do
  program=$(find_program "$command" "$application") || continue
  found=$((found + 1))
  # An editor reads its standard input, which is our list.
  if words=$("$program" --install-extension "$vsix" --force 2>&1 </dev/null); then
    echo "$name: installed"
  else
    failed=$((failed + 1))
    echo "$name: not installed; $program said:"
    printf '%s\n' "${words:-nothing}" | sed 's/^/    /'
  fi
done <<<"$editors"

[ "$found" -gt 0 ] || echo "no editor was found on this machine; install $vsix by hand: Extensions: Install from VSIX…"
[ "$failed" -eq 0 ]
