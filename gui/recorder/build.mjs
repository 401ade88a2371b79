// Makes `dist/` out of `src/`: bundles by esbuild, each with a sourceURL, by which its frames are known in stacks.
// `node build.mjs --check` builds into memory and fails if `dist/` is not what comes out.
// Tools are looked for in the folder that STUNT_GUI_TOOLS names, then beside this file.

import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const tools = process.env.STUNT_GUI_TOOLS || join(here, "../../target/tools/gui");
const { buildSync } = createRequire(join(tools, "package.json"))("esbuild");
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
  const { outputFiles } = buildSync({
    entryPoints: [join(here, "src", from)], outfile: join(here, "dist", to), bundle: true, minify: true, write: false,
    format, target: "es2022", sourcemap: "linked", sourcesContent: false, legalComments: "none", charset: "utf8",
    banner: { js: "/*! stunt 0.2.0, MIT OR Apache-2.0 */" },
  });
  for (const file of outputFiles) {
    let text = file.text;
    if (!file.path.endsWith(".map")) text = text.trimEnd() + `\n//# sourceURL=${to}\n`;
    if (check) {
      const old = (() => { try { return readFileSync(file.path, "utf8"); } catch { return ""; } })();
      if (old !== text) {
        stale++;
        console.error(`${file.path} is not what src makes: node gui/recorder/build.mjs`);
      }
    } else writeFileSync(file.path, text);
  }
}
process.exit(stale ? 1 : 0);
