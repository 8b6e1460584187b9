// Bundles the extension into dist/extension.js; with --tests also the unit tests into dist/test/.
import { readdir } from "node:fs/promises";
import { build } from "esbuild";

const production = process.argv.includes("--production");
const common = {
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  logLevel: "warning",
};

await build({
  ...common,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  external: ["vscode"],
  minify: production,
  sourcemap: !production,
});

if (process.argv.includes("--tests")) {
  const names = (await readdir("test")).filter((name) => name.endsWith(".test.ts"));
  await build({
    ...common,
    entryPoints: names.map((name) => `test/${name}`),
    outdir: "dist/test",
    outExtension: { ".js": ".cjs" },
    sourcemap: "inline",
  });
}
