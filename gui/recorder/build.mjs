// Makes `dist/` out of `src/`: bundles by esbuild, made small by terser, each with a sourceURL, by which its frames are
// known in stacks.
// `node build.mjs --check` builds into memory and fails if `dist/` is not what comes out.
// Tools are looked for in the folder that STUNT_GUI_TOOLS names, then beside this file.

import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const tools = process.env.STUNT_GUI_TOOLS || join(here, "../../target/tools/gui");
const load = createRequire(join(tools, "package.json"));
const { buildSync } = load("esbuild");
const { minify } = load("terser");
const check = process.argv.includes("--check");

const BUNDLES = [
  ["recorder.js", "stunt-recorder.js", "iife"],
  ["recorder.mjs", "stunt-recorder.mjs", "esm"],
  ["replay.js", "stunt-replay.js", "iife"],
  ["ripper.js", "stunt-ripper.js", "iife"],
  ["consent.js", "stunt-consent.js", "iife"],
];

let stale = 0;
for (const [from, to, format] of BUNDLES) {
  const { outputFiles: [map, script] } = buildSync({
    entryPoints: [join(here, "src", from)], outfile: join(here, "dist", to), bundle: true, minifySyntax: true, write: false,
    format, target: "es2022", sourcemap: "external", sourcesContent: false, legalComments: "none", charset: "utf8",
  });
  const small = await minify(script.text, {
    ecma: 2022, module: format === "esm", toplevel: true, compress: { passes: 3 },
    format: { preamble: "/*! stunt 0.2.0, MIT OR Apache-2.0 */" },
    sourceMap: { content: map.text, filename: to, url: `${to}.map` },
  });
  for (const [name, text] of [[`${to}.map`, small.map], [to, `${small.code.trimEnd()}\n//# sourceURL=${to}\n`]]) {
    const path = join(here, "dist", name);
    if (check) {
      const old = (() => { try { return readFileSync(path, "utf8"); } catch { return ""; } })();
      if (old !== text) {
        stale++;
        console.error(`${path} is not what src makes: node gui/recorder/build.mjs`);
      }
    } else writeFileSync(path, text);
  }
}
process.exit(stale ? 1 : 0);
