// The world of a recording: its clock, its chance, what was stored, what the network answered, what people said to
// dialogs. Installed before any script of the page; frames of this origin share one world.

import { seeded } from "./random.js";
import { disguise, method, accessor, constructor, apply } from "./native.js";

const realNow = performance.now.bind(performance);
const realTimeout = window.setTimeout.bind(window);

export const world = {
  clock: null, performance: 0, offset: 0, begun: realNow(), random: null, crypto: [], spare: null,
  answers: [], used: new Map(), unanswered: 0, missing: "pass", dialogs: [], sockets: new Set(), at: 0,
};

/** Milliseconds of the recording's time that have gone by: the real ones, and those that were skipped. */
export const elapsed = () => realNow() - world.begun + world.offset;

/** What `performance.now()` says. */
export const performed = () => (world.clock === null ? realNow() : world.performance + elapsed());

/** Moves the clock on to `at` milliseconds after the recording's beginning. */
export function advance(at) {
  if (at > elapsed()) world.offset += at - elapsed();
}

export function takeWorld(recording, options) {
  const { page, environment, answers, load } = recording;
  if (environment && options.clock !== false) {
    world.clock = environment.clock;
    world.performance = environment.performance;
  }
  if (environment && options.random !== false) {
    const seed = environment.seed || [1, 2, 3, 4];
    world.random = seeded(seed);
    world.spare = seeded([...seed].reverse());
    world.crypto = [...(environment.crypto || [])];
  }
  if (answers && options.network !== false) world.answers = answers.map((answer) => ({ ...answer, url: hereabouts(answer, page?.url) }));
  world.missing = options.missing || "pass";
  if (load && options.dialogs !== false) world.dialogs = load.dialogs.map((dialog) => ({ ...dialog }));
}

export function enterWorld(win, options, environment) {
  if (world.clock !== null) clockOf(win);
  if (world.random) chanceOf(win);
  if (options.dialogs !== false) dialogsOf(win);
  if (world.answers.length || world.missing === "fail") networkOf(win);
  if (environment?.storage && options.storage !== false && win === window) store(environment.storage);
}

function clockOf(win) {
  const time = () => Math.floor(world.clock + elapsed());
  const fresh = win.Date;
  method(win.Date, "now", (_, self, args) => time());
  method(win.Performance.prototype, "now", (_, self, args) => performed());
  constructor(win, "Date", (date, args) => { if (!args.length) date.setTime(time()); return date; }, () => new fresh(time()).toString());
}

function chanceOf(win) {
  method(win.Math, "random", (_, self, args) => world.random());
  const bytes = (count) => {
    const hex = world.crypto.length && world.crypto[0].length === 2 * count ? world.crypto.shift() : null;
    return Uint8Array.from({ length: count }, (_, i) => (hex ? parseInt(hex.slice(2 * i, 2 * i + 2), 16) : world.spare() * 256));
  };
  method(win.Crypto?.prototype, "getRandomValues", (original, self, args) => {
    const [array] = args;
    apply(original, self, args); // for its errors
    new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(bytes(array.byteLength));
    return array;
  });
  method(win.Crypto?.prototype, "randomUUID", (_, self, args) => {
    const data = bytes(16);
    data[6] = (data[6] & 15) | 64;
    data[8] = (data[8] & 63) | 128;
    const hex = [...data].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  });
}

function dialogsOf(win) {
  const next = (type) => {
    const at = world.dialogs.findIndex((dialog) => dialog.type === type);
    return at < 0 ? undefined : world.dialogs.splice(at, 1)[0].answer;
  };
  method(win, "alert", (_, self, args) => { next("alert"); });
  method(win, "confirm", (_, self, args) => next("confirm") ?? true);
  method(win, "prompt", (_, self, args) => {
    const given = args[1];
    const answer = next("prompt");
    return answer === undefined ? String(given ?? "") : answer;
  });
}

function store(entries) {
  for (const { area, key, value } of entries) {
    try {
      if (area === "cookie") for (const part of value.split("; ")) document.cookie = part;
      else window[area + "Storage"].setItem(key, value);
    } catch { /* no storage here */ }
  }
}

/** The address of an answer where the page lies now: what was on the page's own server is on this one. */
function hereabouts({ kind, url }, page) {
  const server = (address) => new URL(address).origin.replace(/^ws/, "http");
  let full = url;
  try {
    if (page && /^https?:/.test(location.protocol) && server(url) === server(page)) full = url.slice(new URL(url).origin.length);
  } catch { /* it is told from the page on */ }
  full = new URL(full, location.href).href;
  return kind === "websocket" ? full.replace(/^http/, "ws") : full;
}

const plainUrl = (url) => url.split(/[?#]/)[0];

/** The recorded answer to a request: the same address in order, the last again and again; then the address alone. */
function answerTo(kinds, verb, url) {
  for (const same of [(answer) => answer.url === url, (answer) => plainUrl(answer.url) === plainUrl(url)]) {
    const all = world.answers.filter((answer) => kinds.includes(answer.kind) && answer.method === verb && same(answer));
    if (!all.length) continue;
    const key = verb + " " + all[0].url + " " + same;
    const used = world.used.get(key) || 0;
    world.used.set(key, used + 1);
    return all[Math.min(used, all.length - 1)];
  }
  world.unanswered++;
  return null;
}

function dataOf(answer) {
  if (answer.encoding !== "base64") return answer.body;
  return Uint8Array.from(atob(answer.body), (char) => char.charCodeAt(0));
}

function absolute(win, url) {
  try { return new URL(String(url?.url ?? url), win.document.baseURI).href; } catch { return String(url); }
}

function networkOf(win) {
  method(win, "fetch", (original, self, args) => {
    const [request, options] = args;
    const url = absolute(win, request);
    const verb = String(options?.method ?? request?.method ?? "GET").toUpperCase();
    const answer = /^(data|blob):/.test(url) ? null : answerTo(["fetch"], verb, url);
    if (!answer && world.missing === "pass") return apply(original, self, args);
    return new win.Promise((resolve, reject) => realTimeout(() => {
      if (!answer || !answer.status) return reject(new win.TypeError("Failed to fetch"));
      const empty = /^(101|204|205|304)$/.test(answer.status);
      const response = new win.Response(empty ? null : dataOf(answer), { status: answer.status, headers: answer.headers });
      Object.defineProperty(response, "url", { value: answer.url });
      resolve(response);
    }, 0));
  });
  requestsOf(win);
  if (world.answers.some((answer) => answer.kind === "websocket")) socketsOf(win, "WebSocket", "websocket");
  if (world.answers.some((answer) => answer.kind === "eventsource")) socketsOf(win, "EventSource", "eventsource");
}

function requestsOf(win) {
  const proto = win.XMLHttpRequest.prototype;
  const asked = new WeakMap();
  const answered = new WeakMap();
  method(proto, "open", (original, self, args) => {
    const [verb, url] = args;
    asked.set(self, { verb: String(verb).toUpperCase(), url: absolute(win, url) });
    answered.delete(self);
    return apply(original, self, args);
  });
  method(proto, "send", (original, self, args) => {
    const request = asked.get(self);
    const answer = request && answerTo(["xhr"], request.verb, request.url);
    if (!answer && world.missing === "pass") return apply(original, self, args);
    const tell = (type) => self.dispatchEvent(new win.ProgressEvent(type));
    realTimeout(() => {
      const state = { answer: answer && answer.status ? answer : null, ready: 4 };
      answered.set(self, state);
      self.dispatchEvent(new win.Event("readystatechange"));
      tell(state.answer ? "load" : "error");
      tell("loadend");
    }, 0);
  });
  const value = {
    readyState: (state) => state.ready, status: ({ answer }) => answer?.status ?? 0, statusText: ({ answer }) => (answer ? "OK" : ""),
    responseURL: ({ answer }) => answer?.url ?? "", responseText: ({ answer }) => answer?.body ?? "",
    response: ({ answer }, request) => {
      if (!answer) return null;
      const type = request.responseType;
      if (type === "json") { try { return win.JSON.parse(answer.body); } catch { return null; } }
      const data = dataOf(answer);
      if (type === "arraybuffer") return (typeof data === "string" ? new TextEncoder().encode(data) : data).buffer;
      if (type === "blob") return new win.Blob([data], { type: answer.headers["content-type"] || "" });
      if (type === "document") return new win.DOMParser().parseFromString(answer.body, "text/html");
      return answer.body;
    },
    responseXML: ({ answer }) => (answer ? new win.DOMParser().parseFromString(answer.body, "text/xml") : null),
  };
  for (const key of Object.keys(value)) {
    accessor(proto, key, (get, self) => { const state = answered.get(self); return state ? value[key](state, self) : apply(get, self, []); });
  }
  method(proto, "getResponseHeader", (original, self, args) => {
    const [name] = args;
    const state = answered.get(self);
    return state ? (state.answer?.headers[String(name).toLowerCase()] ?? null) : apply(original, self, args);
  });
  method(proto, "getAllResponseHeaders", (original, self, args) => {
    const state = answered.get(self);
    if (!state) return apply(original, self, args);
    return Object.entries(state.answer?.headers || {}).map(([name, text]) => `${name}: ${text}\r\n`).join("");
  });
}

/** A connection on which only the recorded messages come, each after its action. */
function socketsOf(win, name, kind) {
  const real = win[name];
  const socket = class extends win.EventTarget {
    constructor(url) {
      super();
      this.url = absolute(win, url).replace(/^http/, kind === "websocket" ? "ws" : "http");
      this.readyState = 0;
      this.binaryType = "blob";
      this.bufferedAmount = 0;
      this.protocol = this.extensions = "";
      const mine = world.answers.filter((answer) => answer.kind === kind && answer.url === this.url);
      world.sockets.add({ socket: this, messages: [...mine] });
      realTimeout(() => {
        this.readyState = 1;
        this.tell(new win.Event("open"));
        deliver(world.at);
      }, 0);
    }
    tell(event) {
      // As a listener, so that what it throws is the page's and not ours.
      const handler = this["on" + event.type];
      if (typeof handler === "function") this.addEventListener(event.type, handler, { once: true });
      this.dispatchEvent(event);
    }
    send() {}
    close() {
      this.readyState = kind === "websocket" ? 3 : 2;
      if (kind === "websocket") realTimeout(() => this.tell(new win.CloseEvent("close", { wasClean: true, code: 1000 })), 0);
    }
  };
  for (const [key, number] of [["CONNECTING", 0], ["OPEN", 1], ["CLOSING", 2], ["CLOSED", 3]]) {
    socket[key] = socket.prototype[key] = number;
  }
  win[name] = disguise(socket, real);
}

/** Gives out the messages that had come by this action. */
export function deliver(id) {
  world.at = id;
  for (const entry of world.sockets) {
    while (entry.socket.readyState === 1 && entry.messages.length && entry.messages[0].after <= id) {
      const answer = entry.messages.shift();
      const bytes = dataOf(answer);
      const data = typeof bytes === "string" ? bytes : entry.socket.binaryType === "arraybuffer" ? bytes.buffer : new Blob([bytes]);
      entry.socket.tell(new MessageEvent("message", { data }));
    }
  }
}
