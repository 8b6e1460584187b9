// Bundles the extension into dist/extension.js and the pages into dist/pages/ and the dashboard's folder;
// with --pages only these, with --tests also the unit tests into dist/test/.
import { copyFile, readdir } from "node:fs/promises";
import { build } from "esbuild";

const DASHBOARD = "../../sidecar/transports/web/pages";
const production = process.argv.includes("--production");
const common = { bundle: true, logLevel: "warning", minify: production };
const node = { ...common, platform: "node", target: "node20", format: "cjs" };

await buildPages();
if (!process.argv.includes("--pages")) await buildExtension();
if (process.argv.includes("--tests")) await buildTests();

async function buildPages() {
  await build({
    ...common,
    minify: true,
    entryPoints: [
      { in: "pages/main.tsx", out: "page" },
      { in: "pages/style.css", out: "page" },
    ],
    outdir: "dist/pages",
    target: "es2022",
    format: "esm",
    jsx: "automatic",
    jsxImportSource: "preact",
  });
  for (const name of ["page.js", "page.css"]) {
    await copyFile(`dist/pages/${name}`, `${DASHBOARD}/${name}`);
  }
}

async function buildExtension() {
  await build({
    ...node,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.js",
    external: ["vscode"],
    sourcemap: !production,
  });
}

async function buildTests() {
  const names = (await readdir("test")).filter((name) => name.endsWith(".test.ts"));
  await build({
    ...node,
    minify: false,
    entryPoints: names.map((name) => `test/${name}`),
    outdir: "dist/test",
    outExtension: { ".js": ".cjs" },
    sourcemap: "inline",
  });
}
