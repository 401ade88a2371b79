// Answers from the network, as far as the page read them: fetch, XMLHttpRequest, WebSocket, EventSource. Bodies are
// read from copies, after the page has asked for its own; requests' bodies are never looked at.

import { accessor, apply, constructor, listen, method, own, stringify } from "./native.js";
import { currentId, elapsed, settings, state } from "./state.js";

const MOST_ANSWERS = 200;
const HEADERS = /^(content-type|location|link|etag)$/;

function keep(fields) {
  if (!state.on) return null;
  const answer = { id: state.nextAnswer++, after: currentId(), at_ms: elapsed(), status: 0, headers: {}, body: "", encoding: "text", ...fields };
  state.answers.push(answer);
  if (state.answers.length > MOST_ANSWERS) state.answers.shift();
  return answer;
}

function tooLarge(answer) {
  Object.assign(answer, { body: "", encoding: "text", omitted: "too-large" });
  state.gaps.add("body:too-large");
}

export function base64(bytes) {
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode.apply(null, bytes.subarray(i, i + 0x8000));
  return btoa(text);
}

/** Puts bytes or text into an answer: as text where that is what they are. */
function fill(answer, data) {
  if (typeof data === "string") {
    if (data.length > settings.bodies) return tooLarge(answer);
    answer.body = data;
    return;
  }
  if (data.byteLength > settings.bodies) return tooLarge(answer);
  const bytes = new Uint8Array(data);
  try {
    answer.body = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    answer.body = base64(bytes);
    answer.encoding = "base64";
  }
}

/** Something that has to end before a recording is complete. */
export function wait(promise) {
  state.pending.add(promise);
  const end = () => state.pending.delete(promise);
  promise.then(end, end);
}

const isKept = (name, url) => HEADERS.test(name) || (name.startsWith("x-") && url.startsWith(location.origin));

function headersOf(headers, url) {
  const kept = {};
  headers.forEach((value, name) => {
    if (isKept(name, url)) kept[name] = value;
  });
  return kept;
}

const resolve = (url) => {
  try { return new URL(String(url?.url ?? url), document.baseURI).href; } catch { return String(url); }
};

/** Response → its answer, until its body is read. */
const responses = own(new WeakMap());

export function hookNetwork(win) {
  method(win, "fetch", (original, self, args) => {
    const [request, options] = args;
    const url = resolve(request);
    const verb = String(options?.method ?? request?.method ?? "GET").toUpperCase();
    const result = apply(original, self, args);
    // The page's own promise is what it gets; ours only watches.
    result.then(
      (response) => responses.set(response, keep({ kind: "fetch", method: verb, url, status: response.status, headers: headersOf(response.headers, url) })),
      () => keep({ kind: "fetch", method: verb, url }),
    );
    return result;
  });
  const proto = win.Response.prototype;
  for (const key of ["text", "json", "arrayBuffer", "blob", "bytes", "formData"]) {
    method(proto, key, (original, self, args) => { read(self); return apply(original, self, args); });
  }
  accessor(proto, "body", (get, self) => { read(self); return apply(get, self, []); });
  method(proto, "clone", (original, self, args) => {
    const copy = apply(original, self, args);
    if (responses.has(self)) responses.set(copy, responses.get(self));
    return copy;
  });
  hookRequests(win);
  hookSockets(win);
}

function read(response) {
  const answer = responses.get(response);
  if (!answer || response.bodyUsed) return;
  responses.delete(response);
  try {
    const copy = response.clone();
    wait(drain(copy, answer));
  } catch { /* a locked body cannot be copied: the page will see its own error */ }
}

async function drain(copy, answer) {
  const reader = copy.body?.getReader();
  if (!reader) return;
  const parts = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    length += value.length;
    if (length > settings.bodies) {
      reader.cancel();
      return tooLarge(answer);
    }
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) { bytes.set(part, at); at += part.length; }
  fill(answer, bytes.buffer);
}

function hookRequests(win) {
  const requests = own(new WeakMap());
  const proto = win.XMLHttpRequest.prototype;
  method(proto, "open", (original, self, args) => {
    const [verb, url] = args;
    requests.set(self, { kind: "xhr", method: String(verb).toUpperCase(), url: resolve(url) });
    return apply(original, self, args);
  });
  method(proto, "send", (original, self, args) => {
    const known = requests.get(self);
    if (known) apply(listen, self, ["loadend", () => ended(self, known), { once: true }]);
    return apply(original, self, args);
  });
}

function ended(request, known) {
  const answer = keep({ ...known, status: request.status });
  if (!answer || !request.status) return;
  for (const line of request.getAllResponseHeaders().trim().split(/\r?\n/)) {
    const at = line.indexOf(":");
    const name = line.slice(0, at).toLowerCase();
    if (isKept(name, known.url)) answer.headers[name] = line.slice(at + 1).trim();
  }
  const type = request.responseType;
  try {
    if (!type || type === "text") fill(answer, request.responseText);
    else if (type === "json") fill(answer, stringify(request.response));
    else if (type === "arraybuffer") fill(answer, request.response);
    else if (type === "blob") wait(request.response.arrayBuffer().then((data) => fill(answer, data)));
  } catch { /* no body */ }
}

function message(kind, url) {
  return (event) => {
    const answer = keep({ kind, method: "GET", url });
    if (!answer) return;
    if (event.data instanceof Blob) wait(event.data.arrayBuffer().then((data) => fill(answer, data)));
    else if (typeof event.data === "string" || event.data instanceof ArrayBuffer) fill(answer, event.data);
  };
}

function hookSockets(win) {
  for (const [name, kind] of [["WebSocket", "websocket"], ["EventSource", "eventsource"]]) {
    constructor(win, name, (socket) => {
      apply(listen, socket, ["message", message(kind, socket.url)]);
      return socket;
    });
  }
}
