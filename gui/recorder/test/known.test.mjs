// Crashes of real releases: driven by trusted input with the recorder in the page, replayed by the player without it,
// and replayed where they must not crash: a repaired version, another page, or without a step that is needed.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Browser, recorder, replay, serve } from "./browser.mjs";
import { KNOWN } from "./known.mjs";
import { check } from "./schema.mjs";

let browser, server;
before(async () => { [browser, server] = [await Browser.start(), await serve()]; });
after(async () => { await browser.close(); server.close(); });

const prepared = ({ environment, answers, load }) => `${replay};__stuntReplay.prepare(${JSON.stringify({ environment, answers, load })});`;

export async function replayed(url, recording, actions = recording.actions) {
  const page = await browser.page(url, { scripts: [prepared(recording)] });
  const result = await page.eval((actions, want) => __stuntReplay.run(actions, { want }), actions, recording.failure);
  await page.close();
  return result;
}

const same = (a, b) => a && b && a.kind === b.kind && a.type === b.type && a.frames[0]?.line === b.frames[0]?.line && a.frames[0]?.function === b.frames[0]?.function;

for (const known of KNOWN) {
  test(known.name, async () => {
    const page = await browser.page(`${server.url}/${known.page}`, { scripts: [recorder] });
    await known.act(page);
    await page.until("__stunt.take().failure !== null");
    const recording = await page.eval("__stunt.taken()");
    const thrown = page.errors.length;
    await page.close();
    check(recording);
    assert.equal(thrown, 1, "the exception was thrown once, by the page");
    assert.equal(recording.failure.kind, "exception");
    assert.equal(recording.failure.type, known.type);
    assert.ok(recording.failure.frames[0].path.endsWith(known.top), recording.failure.frames[0].path);
    assert.equal(recording.actions.length, known.steps);
    assert.equal(recording.failure.after, recording.actions.at(-1).id);
    assert.ok(recording.actions.some((action) => action.calls.length), "listener calls were seen");
    assert.deepEqual(recording.gaps, []);

    const again = await replayed(`${server.url}/${known.page}`, recording);
    assert.deepEqual(again.skipped, []);
    assert.equal(again.error, undefined);
    assert.ok(same(again.failure, recording.failure), JSON.stringify(again));

    const fewer = recording.actions.filter((_, i) => i !== known.without);
    const control = await replayed(`${server.url}/${known.control || known.page}`, recording, fewer);
    assert.ok(!same(control.failure, recording.failure), JSON.stringify(control));
    assert.ok(control.done.length, "the control did something");
  });
}
