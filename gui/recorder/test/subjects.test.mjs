// The subjects: each recording fails again when it is replayed in its page, with no step skipped, and does not
// fail without what its failure needs: the last step, or the text that was typed or imported.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Browser, replay, root, serve } from "./browser.mjs";
import { check } from "./schema.mjs";

const folder = join(root, "subjects/gui");
const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => entry.name);
let browser, server;
before(async () => { [browser, server] = [await Browser.start(), await serve()]; });
after(async () => { await browser.close(); server.close(); });

async function run(name, recording, actions) {
  const { environment, answers, load } = recording;
  const page = await browser.page(`${server.url}/subjects/gui/${name}/index.html`, {
    scripts: [`${replay};__stuntReplay.prepare(${JSON.stringify({ environment, answers, load })});`],
  });
  const result = await page.eval((actions, want) => __stuntReplay.run(actions, { want }), actions, recording.failure);
  await page.close();
  assert.equal(result.error, undefined);
  return result;
}

const same = (a, b) => a && a.kind === b.kind && a.type === b.type && JSON.stringify(a.frames[0]) === JSON.stringify(b.frames[0]);

/** The same with texts and files without anything in them. */
function emptied(actions) {
  return actions.map((action) => ({
    ...action, ...(action.text && { text: action.text.replace(/[^\s]/g, "x").slice(0, 20) }),
    ...(action.files && { files: action.files.map((file) => ({ ...file, body: Buffer.from("a,b\n1,2\n").toString("base64") })) }),
  }));
}

for (const name of names) {
  test(name, async () => {
    const recording = JSON.parse(readFileSync(join(folder, name, "actions.json"), "utf8"));
    check(recording);
    const again = await run(name, recording, recording.actions);
    assert.ok(same(again.failure, recording.failure), JSON.stringify(again));
    assert.deepEqual(again.skipped, []);
    const needsText = /search|filter|import|formula/.test(name);
    const control = await run(name, recording, needsText ? emptied(recording.actions) : recording.actions.slice(0, -1));
    assert.equal(control.failure, null, JSON.stringify(control));
  });
}
