// `stunt-recording-1` as a strict check: what docs/gui-recording.md says, and nothing else.

import assert from "node:assert/strict";

const TARGET = { must: ["selectors", "widget", "tag", "role", "name", "frame"], may: ["type", "public", "editable"] };
const KINDS = {
  click: { must: ["target", "offset", "button", "modifiers"], may: ["pointer", "selection"] },
  contextmenu: { must: ["target", "button", "modifiers"], may: ["offset", "pointer", "selection"] },
  type: { must: ["target"], may: ["text", "secret", "public"] },
  key: { must: ["target", "key", "code", "modifiers", "repeat"], may: [] },
  change: { must: ["target"], may: ["values", "value", "secret", "public"] },
  file: { must: ["target", "files"], may: ["public"] },
  paste: { must: ["target"], may: ["text", "secret", "html", "files", "public"] },
  cut: { must: ["target"], may: [] }, copy: { must: ["target"], may: [] },
  drag: { must: ["target", "offset", "button", "modifiers", "to", "to_offset", "path", "native"], may: ["selection", "files", "public"] },
  wheel: { must: ["target", "offset", "delta", "modifiers"], may: [] },
  scroll: { must: ["scroll"], may: ["target"] }, hover: { must: ["target", "offset"], may: [] },
  resize: { must: ["viewport"], may: [] }, navigate: { must: ["how", "url"], may: [] },
};
KINDS.dblclick = KINDS.auxclick = KINDS.click;
const ACTION = ["id", "at_ms", "kind", "dialogs", "calls", "needs"];

function keys(object, { must, may }, what) {
  for (const key of must) assert.ok(key in object, `${what} has no ${key}: ${JSON.stringify(object)}`);
  for (const key of Object.keys(object)) assert.ok(must.includes(key) || may.includes(key), `${what} has ${key}: ${JSON.stringify(object)}`);
}

function target(object) {
  keys(object, TARGET, "target");
  assert.ok(object.selectors.length && object.selectors.every((path) => path.length && path.every((part) => typeof part === "string")));
  assert.ok(object.frame.every(Number.isInteger));
}

function happened(object, what) {
  for (const dialog of object.dialogs) keys(dialog, { must: ["type", "answer"], may: [] }, `${what}: dialog`);
  for (const call of object.calls) {
    keys(call, { must: ["listener", "event", "how", "count", "reads"], may: [] }, `${what}: call`);
    assert.match(call.how, /^(listener|property|attribute)$/);
    for (const read of call.reads) keys(read, { must: ["what"], may: ["widget", "value", "secret"] }, `${what}: read`);
  }
}

function failure(object) {
  keys(object, { must: ["kind", "type", "after", "at_ms", "frames"], may: [] }, "failure");
  for (const frame of object.frames) keys(frame, { must: ["function", "path", "line", "column"], may: [] }, "frame");
}

export function check(recording) {
  keys(recording, { must: ["schema", "recorder", "page", "begun", "environment", "load", "actions", "answers", "failure", "others", "gaps", "dropped"], may: [] }, "recording");
  assert.equal(recording.schema, "stunt-recording-1");
  keys(recording.page, { must: ["url", "title", "viewport", "language", "agent"], may: [] }, "page");
  keys(recording.page.viewport, { must: ["width", "height", "scale"], may: [] }, "viewport");
  keys(recording.environment, { must: ["clock", "performance", "zone", "dark", "seed", "crypto", "storage"], may: [] }, "environment");
  for (const entry of recording.environment.storage) keys(entry, { must: ["area", "key", "value", "read"], may: [] }, "storage");
  keys(recording.load, { must: ["dialogs", "calls"], may: ["more_calls"] }, "load");
  happened(recording.load, "load");
  let last = 0;
  for (const action of recording.actions) {
    const kind = KINDS[action.kind];
    assert.ok(kind, `no kind ${action.kind}`);
    keys(action, { must: [...ACTION, ...kind.must], may: [...kind.may, "more_calls"] }, action.kind);
    assert.ok(action.id > last, "ids grow");
    assert.ok(action.needs.every((id) => id < action.id), "needs come before");
    last = action.id;
    for (const key of ["target", "to"]) if (action[key]) target(action[key]);
    happened(action, action.kind);
  }
  for (const answer of recording.answers) {
    keys(answer, { must: ["id", "after", "at_ms", "kind", "method", "url", "status", "headers", "body", "encoding"], may: ["omitted"] }, "answer");
  }
  if (recording.failure) failure(recording.failure);
  recording.others.forEach(failure);
  for (const gap of recording.gaps) assert.match(gap, /^(frozen:.+|frame:cross-origin|shadow:closed|body:too-large|file:too-large|late)$/);
}
