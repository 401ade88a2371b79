// What the page gets from outside, other than events: dialogs, time, chance, storage. Each hook gives the page
// exactly what it would have got; only Math.random has another generator, of which the seed is known.

import { accessor, apply, constructor, dateNow, method, own } from "./native.js";
import { current, settings, state } from "./state.js";
import { noteRead } from "./reads.js";
import { running } from "./listeners.js";
import { seeded } from "./random.js";

const MOST_CRYPTO = 4096;
const MOST_STORED = 65536;

export const outside = { seed: null, crypto: [], storage: [], dark: false, zone: "" };
let cryptoLeft = MOST_CRYPTO;

export function hookOutside(win) {
  hookDialogs(win);
  hookClock(win);
  hookRandom(win);
  hookStorage(win);
}

function hookDialogs(win) {
  for (const type of ["alert", "confirm", "prompt"]) {
    method(win, type, (original, self, args) => {
      // A dialog stops everything: the action that is current now caused it.
      const action = current;
      const answer = apply(original, self, args);
      if (state.on) action.dialogs.push({ type, answer: type === "alert" ? true : answer });
      return answer;
    });
  }
}

function hookClock(win) {
  const note = (value) => { if (running) noteRead("clock", null, value); };
  method(win.Date, "now", (original, self, args) => { const value = apply(original, self, args); note(value); return value; });
  method(win.Performance.prototype, "now", (original, self, args) => { const value = apply(original, self, args); note(value); return value; });
  constructor(win, "Date", (date, args) => {
    if (running && !args.length) noteRead("clock", null, dateNow());
    return date;
  }, (text) => text);
}

function hookRandom(win) {
  if (settings.random) {
    const seed = outside.seed || [...crypto.getRandomValues(new Uint32Array(4))];
    // Frames of this origin have generators of their own, all of the same seed.
    const random = seeded(seed);
    const done = method(win.Math, "random", (_, self, args) => { const value = random(); if (running) noteRead("random", null, value); return value; });
    if (done) outside.seed = seed;
  }
  const keep = (bytes) => {
    if (!state.on || cryptoLeft <= 0) return;
    const part = bytes.subarray(0, cryptoLeft);
    cryptoLeft -= part.length;
    outside.crypto.push([...part].map((byte) => byte.toString(16).padStart(2, "0")).join(""));
  };
  const holder = win.Crypto?.prototype;
  method(holder, "getRandomValues", (original, self, args) => {
    const [array] = args;
    const value = apply(original, self, args);
    keep(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    return value;
  });
  method(holder, "randomUUID", (original, self, args) => {
    const value = apply(original, self, args);
    keep(new Uint8Array(value.replace(/-/g, "").match(/../g).map((pair) => parseInt(pair, 16))));
    return value;
  });
}

/** Entries by area and key, as they were when the recording began. */
const stored = own(new Map());

/** Copies what is stored now; a page without storage (a sandbox, a data address) has none. */
export function copyStorage(win) {
  let left = MOST_STORED;
  for (const area of ["local", "session"]) {
    try {
      const storage = win[area + "Storage"];
      for (let i = 0; i < storage.length && left > 0; i++) {
        const key = storage.key(i), value = storage.getItem(key);
        if (key === "__stunt") continue;
        left -= key.length + value.length;
        if (left > 0) keepStored({ area, key, value, read: false });
      }
    } catch { /* not allowed here */ }
  }
}

function keepStored(entry) {
  stored.set(entry.area + " " + entry.key, entry);
  outside.storage.push(entry);
}

function hookStorage(win) {
  method(win.Storage?.prototype, "getItem", (original, self, args) => {
    const [key] = args;
    const value = apply(original, self, args);
    const area = areaOf(self, win);
    const entry = area && stored.get(area + " " + key);
    if (entry) entry.read = true;
    return value;
  });
  accessor(win.Document.prototype, "cookie", (get, self) => {
    const value = apply(get, self, []);
    if (state.on && value && !stored.has("cookie ") && value.length < MOST_STORED) keepStored({ area: "cookie", key: "", value, read: true });
    return value;
  });
}

function areaOf(storage, win) {
  try {
    return storage === win.localStorage ? "local" : storage === win.sessionStorage ? "session" : "";
  } catch {
    return "";
  }
}
