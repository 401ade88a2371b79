// One small page for each promise of the recorder and of the player.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { Browser, dist, recorder, replay, serve, tools } from "./browser.mjs";
import { check } from "./schema.mjs";

let browser, server;
const routes = {};
before(async () => { [browser, server] = [await Browser.start(), await serve(routes)]; });
after(async () => { await browser.close(); server.close(); });

let number = 0;
const html = (body) => `<!doctype html><html><head><meta charset="utf-8"><title>Page</title></head><body>${body}</body></html>`;
function put(text, type = "text/html", headers = {}) {
  const path = `/p${++number}`;
  routes[path] = (_, response) => { response.writeHead(200, { "content-type": type, ...headers }); response.end(text); };
  return path;
}

/** A page with the recorder; `act` uses it; gives back the recording. */
async function recorded(body, act, { config, scripts = [], dialogs } = {}) {
  const url = server.url + (body.startsWith("/") ? body : put(html(body)));
  const setting = config ? `window.__stuntConfig = ${JSON.stringify(config)};` : "";
  const page = await browser.page(url, { scripts: [...scripts, setting + recorder], dialogs });
  try {
    const more = await act(page);
    const recording = await page.eval("__stunt.taken()");
    check(recording);
    return { recording, more, page, url };
  } finally {
    await page.close();
  }
}

async function replayed(url, recording, { actions = recording.actions, options = {}, prepare = {}, look } = {}) {
  const world = { environment: recording.environment, answers: recording.answers, load: recording.load };
  const page = await browser.page(url, { scripts: [`${replay};__stuntReplay.prepare(${JSON.stringify(world)}, ${JSON.stringify(prepare)});`] });
  const result = await page.eval((actions, options) => __stuntReplay.run(actions, options), actions, options);
  const seen = look ? await page.eval(look) : undefined;
  await page.close();
  assert.equal(result.error, undefined);
  return { result, seen };
}

const kinds = (recording) => recording.actions.map((action) => action.kind);
const callsOf = (recording) => recording.actions.flatMap((action) => action.calls);

test("one press is one action, however many listeners it reaches, and however they were registered", async () => {
  const body = `<div id="outer"><button id="b" onclick="log.push('attribute', this.id, event.type)">Go</button></div><script>
    log = []; b.addEventListener("mousedown", () => log.push("down")); b.addEventListener("click", function () { log.push(this === b); });
    b.addEventListener("click", { handleEvent(event) { log.push(this.mark, event.currentTarget === b); }, mark: "object" });
    outer.onclick = function (event) { log.push("property", this === outer); return false; };
    document.addEventListener("click", (event) => log.push("delegated", event.target === b));</script>`;
  const { recording, more } = await recorded(body, async (page) => { await page.click("#b"); return page.eval("log"); });
  assert.deepEqual(more, ["down", "attribute", "b", "click", true, "object", true, "property", true, "delegated", true]);
  assert.deepEqual(kinds(recording), ["click"]);
  const calls = callsOf(recording).map((call) => [call.listener, call.how]);
  assert.deepEqual(calls, [
    ["mousedown@#b", "listener"], ["click@#b~3", "attribute"], ["click@#b", "listener"], ["click@#b~2", "listener"],
    ["click@#outer", "property"], ["click@document", "listener"],
  ]);
});

test("a press by a script is no action, a press of keys and of labels one", async () => {
  const body = `<label id="l">Yes <input type="checkbox" id="c"></label><button id="b">B</button><script>n = 0; b.onclick = () => { n++; c.click(); };</script>`;
  const { recording, more } = await recorded(body, async (page) => {
    await page.click("#l", { at: [3, 8] });
    await page.click("#b");
    await page.key("Enter");
    await page.key(" ");
    return page.eval("[n, c.checked]");
  });
  assert.deepEqual(more, [3, false]);
  assert.deepEqual(recording.actions.map((action) => action.key ?? action.target.tag), ["label", "button", "Enter", " "]);
});

test("a page that prevents presses, or puts something else under them, has one action for each", async () => {
  const body = `<button id="a">A</button><button id="b">B</button><div id="m" style="position:fixed;inset:0;display:none">modal</div><script>
    a.addEventListener("pointerdown", (event) => event.preventDefault()); b.addEventListener("pointerdown", () => { m.style.display = "block"; }); n = 0; a.onclick = () => n++; m.onclick = () => n += 10;</script>`;
  const { recording, more, url } = await recorded(body, async (page) => {
    await page.click("#a");
    await page.click("#a");
    await page.click("#b");
    await page.click("#m");
    return page.eval("n");
  });
  assert.deepEqual(recording.actions.map((action) => [action.kind, action.target.widget]), [["click", "#a"], ["click", "#a"], ["click", "#b"], ["click", "#m"]]);
  assert.equal((await replayed(url, recording, { look: "n" })).seen, more);
});

test("what listeners read is noted, once, and only while they run", async () => {
  const body = `<input id="a" value="private"><input id="k" type="checkbox" checked><select id="s"><option value="x">X<option value="y" selected>Y</select>
    <textarea id="t">long</textarea><p id="p">text</p><button id="b">Go</button>
    <script>b.onclick = () => { a.value + a.value; k.checked; s.value; s.selectedIndex; t.value; p.textContent; p.innerHTML; Date.now(); new Date(); Math.random(); }; p.textContent;</script>`;
  const { recording } = await recorded(body, (page) => page.click("#b"));
  const reads = callsOf(recording)[0].reads;
  const known = reads.filter((read) => read.widget).map((read) => [read.what, read.widget, read.value]);
  assert.deepEqual(known, [
    ["value", "#a", "private"], ["checked", "#k", true], ["value", "#s", "y"], ["selectedIndex", "#s", 1], ["value", "#t", "long"], ["text", "#p", "text"], ["html", "#p", "text"],
  ]);
  assert.deepEqual(reads.filter((read) => !read.widget).map((read) => read.what), ["clock", "random"]);
  assert.deepEqual(recording.load.calls, []);
});

test("typing, keys, choices and dates come out as people would say them, and replay to the same page", async () => {
  const body = `<form id="f" onsubmit="event.preventDefault(); sent++"><input id="name"><input id="n" type="number"><select id="s"><option value="1">One<option value="2">Two</select>
    <input id="d" type="date"><input id="r" type="radio" name="r" value="1"><textarea id="t"></textarea><input type="range" id="g" min="0" max="10" value="5"><button>Send</button></form><div id="e" contenteditable="true">Old text</div>
    <script>sent = 0; order = []; for (const type of ["keydown", "input", "change"]) f.addEventListener(type, (event) => order.push(type + event.target.id));</script>`;
  const state = "[document.querySelector('#name').value, n.value, s.value, d.value, r.checked, t.value, e.textContent, sent]";
  const { recording, more, url } = await recorded(body, async (page) => {
    await page.click("#name");
    await page.type("Ann Lee");
    await page.key("Backspace");
    await page.type("x");
    await page.key("Tab");
    await page.type("12");
    await page.click("#r");
    await page.click("#t");
    await page.type("one");
    await page.key("Enter");
    await page.type("two");
    await page.eval("document.querySelector('#s').focus()");
    await page.key("ArrowDown");
    await page.click("#e");
    await page.key("a", { ctrl: true });
    await page.type("New");
    await page.click("#name");
    await page.key("Enter");
    return page.eval(state);
  });
  assert.deepEqual(more, ["Ann Lex", "12", "2", "", true, "one\ntwo", "New", 1]);
  const told = recording.actions.map((action) => action.kind + ":" + (action.text ?? action.key ?? action.values ?? ""));
  assert.deepEqual(told, [
    "click:", "type:Ann Lee", "key:Backspace", "type:x", "key:Tab", "type:12", "click:", "click:", "type:one", "key:Enter", "type:two",
    "change:2", "click:", "key:a", "type:New", "click:", "key:Enter",
  ]);
  const { result, seen } = await replayed(url, recording, { look: state });
  assert.deepEqual(result.skipped, []);
  assert.deepEqual(seen, more);
});

test("double click, other buttons, drags with and without the browser's own, and selections", async () => {
  const body = `<style>div{width:120px;height:30px}</style><div id="a">word other</div><div id="b" draggable="true">drag me</div><div id="c">here</div><div id="m">move</div><div id="z">end</div>
    <script>log = []; for (const type of ["dblclick", "contextmenu", "auxclick", "drop", "dragstart", "mousedown", "mouseup"]) document.addEventListener(type, (event) => log.push(type + event.target.id + event.button));
    document.addEventListener("contextmenu", (event) => event.preventDefault()); c.addEventListener("dragover", (event) => event.preventDefault());</script>`;
  const { recording, more, url } = await recorded(body, async (page) => {
    await page.click("#a", { count: 2, at: [8, 8] });
    await page.click("#a", { button: "right" });
    await page.click("#a", { button: "middle" });
    await page.drag("#m", "#z");
    return page.eval("log");
  });
  // A middle press may paste what is selected.
  recording.actions = recording.actions.filter((action) => action.kind !== "paste");
  assert.deepEqual(kinds(recording), ["dblclick", "contextmenu", "auxclick", "drag"]);
  assert.equal(recording.actions[0].selection.end - recording.actions[0].selection.start, 4);
  assert.equal(recording.actions[3].to.widget, "#z");
  const { seen } = await replayed(url, recording, { look: "log" });
  for (const type of ["dblclicka0", "contextmenua2", "mousedownm0", "mouseupz0"]) assert.ok(seen.includes(type) && more.includes(type), `${type}: ${seen} ${more}`);
});

test("passwords are in no recording, wherever the page puts them", async () => {
  routes["/echo"] = (_, response) => { response.writeHead(200, { "content-type": "application/json" }); response.end('{"you":"Hunter2 sent"}'); };
  const body = `<form><input id="u"><input id="p" type="password"><input id="o" autocomplete="one-time-code"><button id="b" type="button">Log in</button></form><p id="shown"></p><script>
    b.onclick = () => { p.type = "text"; const x = p.value; shown.textContent = x; shown.textContent; fetch("/echo?p=" + encodeURIComponent(x)).then((r) => r.json()); history.pushState(0, "", "?q=" + x); };</script>`;
  const { recording } = await recorded(body, async (page) => {
    await page.click("#u");
    await page.type("ann");
    await page.click("#p");
    await page.type("Hunter");
    await page.key("ArrowLeft");
    await page.key("ArrowRight");
    await page.type("2");
    await page.click("#o");
    await page.type("924817");
    await page.click("#b");
    await page.until("__stunt.take().answers.length === 1");
    await page.click("#p");
    await page.type("!");
    await page.click("#b");
  });
  const text = JSON.stringify(recording);
  assert.ok(!text.includes("Hunter2") && !text.includes("Hunter") && !text.includes("924817"), text);
  assert.deepEqual(recording.actions[3].secret, { length: "1-8", classes: ["lower", "upper"] });
  assert.equal(recording.actions[1].text, "ann");
  assert.ok(callsOf(recording).some((call) => call.reads.some((read) => read.secret && read.widget === "#p")));
});

test("marks: public is said, ignored is not there", async () => {
  const body = `<div data-stunt-public><input id="a"></div><div class="stunt-ignore"><input id="i"><button id="x">X</button></div><input id="q" data-stunt-public type="password">
    <script>i.oninput = () => i.value; document.onclick = () => i.value;</script>`;
  const { recording } = await recorded(body, async (page) => {
    await page.click("#a");
    await page.type("open");
    await page.click("#i");
    await page.type("hidden");
    await page.click("#x");
    await page.click("#q");
    await page.type("secret99");
  });
  const text = JSON.stringify(recording);
  assert.ok(!text.includes("hidden") && !text.includes("secret99") && !text.includes('"#i"') && !text.includes('"#x"'), text);
  assert.deepEqual(recording.actions.map((action) => [action.kind, action.target.public, action.public]), [["click", true, undefined], ["type", true, true], ["click", true, undefined], ["type", true, true]]);
  assert.ok(recording.actions[3].secret);
});

test("dialogs are answered as they were", async () => {
  const body = `<button id="b">Ask</button><script>log = []; b.onclick = () => { alert("a"); log.push(confirm("b"), confirm("c"), prompt("d"), prompt("e", "x")); };</script>`;
  const { recording, more, url } = await recorded(body, async (page) => { await page.click("#b"); return page.eval("log"); }, { dialogs: [true, false, true, "words", null] });
  assert.deepEqual(more, [false, true, "words", null]);
  assert.deepEqual(recording.actions[0].dialogs, [
    { type: "alert", answer: true }, { type: "confirm", answer: false }, { type: "confirm", answer: true }, { type: "prompt", answer: "words" }, { type: "prompt", answer: null },
  ]);
  assert.deepEqual((await replayed(url, recording, { look: "log" })).seen, more);
});

test("clock, chance, storage and the network are the recorded ones in a replay", async () => {
  let visits = 0;
  routes["/api/x"] = (_, response) => { response.writeHead(visits ? 500 : 200, { "content-type": "application/json", "x-own": "yes" }); response.end(`{"visit":${++visits}}`); };
  const path = put(html(`<button id="b">Go</button><script>
    localStorage.setItem("early", localStorage.getItem("early") || "none"); out = [Math.random(), Math.random()];
    b.onclick = async () => { const r = await fetch("/api/x?n=1"); out.push(r.status, r.headers.get("x-own"), (await r.json()).visit);
      const x = new XMLHttpRequest(); x.open("GET", "/api/x"); x.onload = () => { out.push(x.status, JSON.parse(x.responseText).visit, x.getResponseHeader("content-type")); done = true; }; x.send();
      out.push(crypto.getRandomValues(new Uint8Array(3)).join(), crypto.randomUUID(), Math.random()); time = Date.now(); day = String(new Date().getFullYear()); };
    done = false;</script>`));
  const { recording, more, url } = await recorded(path, async (page) => {
    await page.eval("localStorage.setItem('theme', 'dark')");
    await page.open(server.url + path);
    await page.click("#b");
    await page.until("done");
    return page.eval("[out, time]");
  });
  assert.deepEqual(recording.answers.map((answer) => [answer.kind, answer.status, JSON.parse(answer.body)]), [["fetch", 200, { visit: 1 }], ["xhr", 500, { visit: 2 }]]);
  assert.deepEqual(recording.environment.storage.map((entry) => [entry.area, entry.key, entry.value, entry.read]).sort(), [["local", "early", "none", true], ["local", "theme", "dark", false]]);
  const { seen, result } = await replayed(url, recording, { look: "[out, time, localStorage.theme, localStorage.early]" });
  assert.deepEqual(seen[0], more[0]);
  assert.ok(Math.abs(seen[1] - more[1]) < 2000, "the clock is the recorded one");
  assert.deepEqual(seen.slice(2), ["dark", "none"]);
  assert.equal(result.unanswered, 0);
  assert.equal(visits, 2, "nothing went out");
});

test("what was on the page's own server is there wherever the page lies, by requests and by sockets", async () => {
  const body = `<script>log = []; const read = async (of) => log.push(await (await of).text()); read(fetch("/api/a?q=1")); read(fetch("https://other.example/b"));
    new WebSocket(location.origin.replace("http", "ws") + "/chat").onmessage = ({ data }) => log.push(data);</script>`;
  const answer = (id, url, kind = "fetch") => ({ id, after: 0, at_ms: 1, kind, method: "GET", url, status: 200, headers: {}, body: url, encoding: "text" });
  const page = { url: "https://app.example:81/list?x" };
  for (const own of [["https://app.example:81/api/a?q=1", "wss://app.example:81/chat"], ["/api/a", "/chat"]]) {
    const answers = [answer(1, own[0]), answer(2, "https://other.example/b"), answer(3, own[1], "websocket")];
    const tab = await browser.page(server.url + put(html(body)), { scripts: [`${replay};__stuntReplay.prepare(${JSON.stringify({ page, answers })}, { missing: "fail" });`] });
    await tab.until("log.length === 3");
    assert.deepEqual((await tab.eval("log")).sort(), [...own, "https://other.example/b"].sort());
    await tab.close();
  }
});

test("messages of the server come in a replay after the action after which they came", async () => {
  routes["/events"] = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: first\n\n");
    routes["/push"] = (_, answer) => { response.write("data: boom(\n\n"); answer.writeHead(204); answer.end(); };
  };
  const body = `<button id="b">b</button><script>log = []; const source = new EventSource("/events"); source.onmessage = (event) => { log.push(event.data); if (event.data !== "first") new RegExp(event.data); };
    b.onclick = () => log.push("click");</script>`;
  const { recording, more, url } = await recorded(body, async (page) => {
    await page.until("log.length === 1");
    await page.click("#b");
    await page.eval("fetch('/push').then(() => 0)");
    await page.until("log.length === 3");
    return page.eval("log");
  });
  assert.deepEqual(more, ["first", "click", "boom("]);
  assert.deepEqual(recording.answers.filter((answer) => answer.kind === "eventsource").map((answer) => [answer.after, answer.body]), [[0, "first"], [1, "boom("]]);
  const { seen, result } = await replayed(url, recording, { look: "log" });
  assert.deepEqual(seen, more);
  assert.equal(result.failure.type, "SyntaxError");
});

test("wheels and pointers over what listens to them, and scrolling by people", async () => {
  const body = `<div id="h" style="height:40px">menu</div><div id="w" style="height:40px">zoom</div><div id="s" style="height:60px;overflow:auto"><div style="height:900px">long</div></div><p id="p">other</p><script>log = [];
    h.onmouseenter = () => log.push("in"); h.onmouseleave = () => log.push("out"); w.addEventListener("wheel", (event) => { event.preventDefault(); log.push("wheel" + event.deltaY); }, { passive: false }); s.onscroll = () => { top_ = s.scrollTop; };</script>`;
  const { recording, more, url } = await recorded(body, async (page) => {
    const over = async (css) => page.send("Input.dispatchMouseEvent", { type: "mouseMoved", ...(await page.point(css)) });
    const wheel = async (css, deltaY) => page.send("Input.dispatchMouseEvent", { type: "mouseWheel", deltaX: 0, deltaY, ...(await page.point(css)) });
    await over("#p");
    await over("#h");
    await over("#p");
    await wheel("#w", 30);
    await wheel("#w", 20);
    await wheel("#s", 200);
    await page.until("s.scrollTop === 200");
    await page.eval("new Promise((done) => setTimeout(done, 100))");
    return page.eval("[log, s.scrollTop]");
  });
  assert.deepEqual(recording.actions.map((action) => [action.kind, action.target.widget]), [["hover", "#h"], ["wheel", "#w"], ["scroll", "#s"]]);
  assert.deepEqual([recording.actions[1].delta, recording.actions[2].scroll], [{ x: 0, y: 50 }, { x: 0, y: 200 }]);
  const { seen } = await replayed(url, recording, { look: "[log, s.scrollTop]" });
  assert.equal(seen[1], more[1]);
  assert.ok(seen[0].includes("in") && seen[0].includes("wheel50"), seen[0].join());
});

test("failures of each kind, never with a message", async () => {
  const body = `<button id="e">e</button><button id="r">r</button><button id="c">c</button><button id="a">a</button><script>
    e.onclick = function boom() { throw new RangeError("private words"); }; r.onclick = () => Promise.reject(new SyntaxError("private words"));
    c.onclick = () => console.error("private words", new EvalError("private words")); a.onclick = () => console.assert(false, "private words");</script>`;
  const { recording } = await recorded(body, async (page) => {
    for (const id of ["#e", "#r", "#c", "#a"]) { await page.click(id); await page.eval("new Promise((done) => setTimeout(done, 20))"); }
    await page.eval("__stunt.assist()");
  }, { config: { console: true } });
  const all = [...recording.others, recording.failure];
  assert.deepEqual(all.map((failure) => [failure.kind, failure.type]), [["exception", "RangeError"], ["rejection", "SyntaxError"], ["console", "EvalError"], ["assertion", "Error"], ["assistance", ""]]);
  assert.deepEqual(all[0].frames.map((frame) => frame.function), ["e.onclick.boom"].map(() => all[0].frames[0].function));
  assert.match(all[0].frames[0].function, /boom/);
  assert.equal(all[0].frames.length, 1, "our own frames are left out");
  assert.ok(!JSON.stringify(all).includes("private"));
  assert.deepEqual(all.map((failure) => failure.after), [1, 2, 3, 4, 4]);
});

test("the tool that injected it is told, and a page that fails in a loop tells once", async () => {
  const body = `<button id="b">b</button><script>b.onclick = () => setInterval(() => { throw new Error("x"); }, 1);</script>`;
  const { more, recording } = await recorded(body, async (page) => {
    await page.click("#b");
    await page.eval("new Promise((done) => setTimeout(done, 100))");
    return page.reports;
  });
  assert.equal(more.length, 1);
  assert.equal(more[0].failure.kind, "exception");
  assert.equal(recording.others.length, 0);
});

test("hooks do not show", async () => {
  const body = `<input id="a" value="v"><script>
    const text = (f) => Function.prototype.toString.call(f); const own = (o, k) => Object.getOwnPropertyDescriptor(o, k);
    const handler = () => {}; a.onclick = handler; a.setAttribute("onfocus", "1 + 1"); let thrown = ""; try { EventTarget.prototype.addEventListener.call({}, "x", handler); } catch (error) { thrown = error.constructor.name; }
    let illegal = ""; try { own(HTMLInputElement.prototype, "value").get.call({}); } catch (error) { illegal = error.constructor.name; }
    let calls = 0; const twice = () => calls++; a.addEventListener("x", twice); a.addEventListener("x", twice); a.dispatchEvent(new Event("x")); a.removeEventListener("x", twice); a.dispatchEvent(new Event("x"));
    let once = 0; a.addEventListener("y", () => once++, { once: true }); a.dispatchEvent(new Event("y")); a.dispatchEvent(new Event("y"));
    let passive = false; a.addEventListener("z", null, { get passive() { passive = true; return false; } });
    let rethrown = ""; addEventListener("error", (event) => { rethrown = event.error; event.preventDefault(); }, { once: true }); const mine = new Error("mine"); a.addEventListener("w", () => { throw mine; }); a.dispatchEvent(new Event("w"));
    class Day extends Date { mine() { return 1; } }
    out = [[addEventListener, removeEventListener, fetch, alert, Math.random, Date, Date.now, WebSocket, own(HTMLInputElement.prototype, "value").get, own(HTMLElement.prototype, "onclick").set, Function.prototype.toString].map(text).every((t) => /^function [\\w ]+\\(\\) \\{ \\[native code\\] \\}$/.test(t)),
      addEventListener.name, addEventListener.length, "prototype" in addEventListener, a.onclick === handler, typeof a.onfocus, thrown, illegal, calls, once, passive, rethrown === mine,
      new Date(0) instanceof Date, new Date(0).constructor === Date, new Day(5).mine() + new Day(5).getTime(), typeof Date(), Date.UTC(1970, 0, 1), Object.keys(window).includes("__stunt"),
      Object.keys(own(EventTarget.prototype, "addEventListener")).join(), own(window, "fetch").enumerable, new Date(2020, 0, 1).getFullYear()];</script>`;
  const { more } = await recorded(body, (page) => page.eval("out"));
  assert.deepEqual(more, [true, "addEventListener", 2, false, true, "function", "TypeError", "TypeError", 1, 1, true, true, true, true, 6, "string", 0, false, "value,writable,enumerable,configurable", true, 2020]);
});

test("a page that froze or patched what the recorder hooks goes on as before", async () => {
  const script = `Object.freeze(EventTarget.prototype); Object.freeze(Math); Object.defineProperty(window, "alert", { value: window.alert, configurable: false, writable: false });
    Array.prototype.includes = Map.prototype.get = undefined;`;
  const body = `<button id="b">b</button><script>n = 0; b.onclick = () => { n++; throw new Error("x"); };</script>`;
  const { recording, more } = await recorded(body, async (page) => { await page.click("#b"); return page.eval("n"); }, { scripts: [script.split("\n")[0]] });
  assert.equal(more, 1);
  assert.deepEqual(kinds(recording), ["click"]);
  assert.equal(recording.failure.kind, "exception");
  assert.ok(recording.gaps.includes("frozen:addEventListener") && recording.gaps.includes("frozen:random") && recording.gaps.includes("frozen:alert"), recording.gaps);
  assert.equal(recording.environment.seed, null);
  const patched = `<button id="b">b</button><script>
    const add = EventTarget.prototype.addEventListener; EventTarget.prototype.addEventListener = function (type, f, o) { return add.call(this, type, f, o); };
    Date.now = () => 7; JSON.stringify = () => { throw new Error("no"); }; performance.now = () => { throw new Error("no"); }; Reflect.apply = null; WeakMap.prototype.get = () => { throw new Error("no"); };
    n = 0; b.addEventListener("click", () => { n++; });</script>`;
  const again = await recorded(patched, async (page) => { await page.click("#b"); await page.eval("delete WeakMap.prototype.get"); return page.eval("n"); });
  assert.equal(again.more, 1);
  assert.deepEqual(kinds(again.recording), ["click"]);
});

test("frames of the same origin, shadow roots, and what is made later", async () => {
  const inner = put(html(`<button id="i">In</button><script>i.addEventListener("click", () => { throw new TypeError("in frame"); });</script>`));
  const body = `<button id="b">Make</button><script>b.onclick = () => {
    const host = document.createElement("div"); host.id = "host"; host.attachShadow({ mode: "open" }).innerHTML = "<button>Shade</button>"; host.shadowRoot.firstChild.onclick = () => { hit = true; }; document.body.append(host);
    const frame = document.createElement("iframe"); frame.src = "${inner}"; document.body.append(frame); frame.onload = () => { ready = true; }; }; hit = ready = false;</script>`;
  const { recording, url } = await recorded(body, async (page) => {
    await page.click("#b");
    await page.until("ready");
    await page.click("#host", { at: [10, 10] });
    const at = await page.eval(`(() => { const f = document.querySelector("iframe").getBoundingClientRect(); const b = frames[0].document.getElementById("i").getBoundingClientRect(); return { x: f.left + b.left + 8, y: f.top + b.top + 8 }; })()`);
    for (const type of ["mousePressed", "mouseReleased"]) await page.send("Input.dispatchMouseEvent", { type, ...at, button: "left", clickCount: 1 });
    await page.until("__stunt.take().failure");
  });
  assert.deepEqual(recording.actions.map((action) => action.target.widget), ["#b", "#host>>button", "frame0|#i"]);
  assert.deepEqual(recording.actions[1].target.selectors.at(-1), ["#host", "text/Shade"]);
  assert.deepEqual(recording.actions[2].target.frame, [0]);
  assert.deepEqual(recording.actions.map((action) => action.needs), [[], [1], []]);
  assert.equal(recording.failure.type, "TypeError");
  const { result, seen } = await replayed(url, recording, { look: "hit", options: { settle: 2000 } });
  assert.deepEqual([result.skipped, seen], [[], true]);
  assert.equal(result.failure.type, "TypeError");
});

test("orphans are skipped and said, and what an action needs is known beforehand", async () => {
  const body = `<button id="open">Open</button><button id="off" disabled>Off</button><script>open_ = document.getElementById("open");
    open_.onclick = () => { const b = document.createElement("button"); b.id = "late"; b.textContent = "Late"; b.onclick = () => { off.disabled = false; }; document.body.append(b); };
    off.onclick = () => { throw new Error(); };</script>`;
  const { recording, url } = await recorded(body, async (page) => { await page.click("#open"); await page.click("#late"); await page.click("#off"); });
  assert.deepEqual(recording.actions.map((action) => action.needs), [[], [1], [2]]);
  assert.equal((await replayed(url, recording)).result.failure.kind, "exception");
  const { result } = await replayed(url, recording, { actions: recording.actions.slice(1) });
  assert.deepEqual([result.done, result.skipped, result.failure], [[], [{ id: 2, why: "missing" }, { id: 3, why: "disabled" }], null]);
});

test("widgets are found by what lasts when the structure has changed", async () => {
  const before_ = put(html(`<div><button>First</button><button data-testid="go">Go</button><input name="mail"></div>`));
  const after_ = put(html(`<main><p>New</p><section><input><button>Other</button><button>First</button></section><button data-testid="go">Start</button><input name="mail"></main><script>log = []; document.onclick = (event) => log.push(event.target.textContent || event.target.name);</script>`));
  const { recording } = await recorded(before_, async (page) => { await page.click("button@0"); await page.click("button@1"); await page.click("input"); });
  const { seen } = await replayed(server.url + after_, recording, { look: "log" });
  assert.deepEqual(seen, ["First", "Start", "mail"]);
});

test("a ring of actions, and a new document after which it goes on", async () => {
  const body = `<button id="b">b</button><script>n = 0; b.onclick = () => n++;</script>`;
  const { recording } = await recorded(body, async (page) => { for (let i = 0; i < 7; i++) await page.click("#b"); }, { config: { actions: 4 } });
  assert.deepEqual([recording.actions.map((action) => action.id), recording.dropped], [[4, 5, 6, 7], 3]);
  const second = put(html(`<button id="c">c</button>`));
  const first = put(html(`<a id="a" href="${second}">on</a>`));
  const long = await recorded(first, async (page) => {
    const loaded = new Promise((done) => { page.loaded = done; });
    await page.click("#a");
    await loaded;
    await page.click("#c");
  }, { config: { persist: true } });
  assert.deepEqual(kinds(long.recording), ["click", "navigate", "click"]);
  assert.equal(long.recording.actions[1].how, "load");
  assert.ok(long.recording.page.url.endsWith(first));
});

test("files and the clipboard come back", async () => {
  const body = `<input type="file" id="f"><div id="e" contenteditable="true"></div><textarea id="t"></textarea><script>got = []; f.onchange = async () => got.push(f.files[0].name, await f.files[0].text());
    for (const el of [e, t]) el.addEventListener("paste", (event) => got.push(event.clipboardData.getData("text/plain")));</script>`;
  const { recording, url } = await recorded(body, async (page) => {
    const { root } = await page.send("DOM.getDocument");
    const { nodeId } = await page.send("DOM.querySelector", { nodeId: root.nodeId, selector: "#f" });
    await page.send("DOM.setFileInputFiles", { nodeId, files: [join(dist, "../package.json")] });
    await page.until("got.length === 2");
    await page.send("Browser.grantPermissions", { permissions: ["clipboardReadWrite", "clipboardSanitizedWrite"], browserContextId: page.context });
    await page.eval("navigator.clipboard.writeText('from elsewhere')");
    await page.click("#t");
    await page.send("Input.dispatchKeyEvent", { type: "rawKeyDown", key: "v", code: "KeyV", windowsVirtualKeyCode: 86, modifiers: 2, commands: ["paste"] });
    await page.until("got.length === 3");
  });
  const text = readFileSync(join(dist, "../package.json"), "utf8");
  const file = recording.actions.find((action) => action.kind === "file").files[0];
  assert.deepEqual([file.name, Buffer.from(file.body, "base64").toString()], ["package.json", text]);
  assert.deepEqual(recording.actions.slice(-1).map((action) => [action.kind, action.text]), [["paste", "from elsewhere"]]);
  const { seen } = await replayed(url, recording, { look: "new Promise((done) => setTimeout(() => done([...got, t.value]), 50))" });
  // The file is read in the background.
  assert.deepEqual(seen.sort(), ["package.json", text, "from elsewhere", "from elsewhere"].sort());
});

test("timers that were due before the next action have run, others have not, and nobody waits for them", async () => {
  const body = `<input id="q"><button id="b">Go</button><script>
    log = []; q.oninput = () => { clearTimeout(window.t); window.t = setTimeout(() => log.push("search " + q.value), 60000); };
    setInterval(() => log.push("tick"), 25000); b.onclick = () => log.push("go");
    q.onfocus = () => { const begun = performance.now(); requestAnimationFrame(function next(at) { if (at - begun < 30000) requestAnimationFrame(next); else log.push("moved"); }); setTimeout(() => log.push("never"), 1e6); };
  </script>`;
  const { recording, url } = await recorded(body, async (page) => { await page.click("#q"); await page.type("ab"); await page.click("#b"); });
  const times = [100, 200, 80000];
  const actions = recording.actions.map((action, i) => ({ ...action, at_ms: times[i] }));
  const { result, seen } = await replayed(url, recording, { actions, options: { last: 0 }, look: "log" });
  assert.deepEqual(result.done, [1, 2, 3]);
  assert.deepEqual(seen.filter((what) => what !== "moved"), ["tick", "tick", "search ab", "tick", "go"]);
  assert.ok(seen.includes("moved") && seen.indexOf("moved") < seen.indexOf("go"));
  const soon = recording.actions.map((action, i) => ({ ...action, at_ms: 100 * i }));
  assert.deepEqual((await replayed(url, recording, { actions: soon, options: { last: 0 }, look: "log" })).seen, ["go"]);
});

test("what fails a while after the last action fails, and animations come to their end", async () => {
  const body = `<style>#p { transition: opacity 20s } #p.gone { opacity: 0 }</style><p id="p">Text</p><button id="b">Go</button><script>
    b.onclick = () => { p.classList.add("gone"); p.ontransitionend = () => setTimeout(() => new RegExp("("), 2000); };</script>`;
  const { recording, url } = await recorded(body, (page) => page.click("#b"));
  const late = (last) => replayed(url, recording, { options: { last } });
  assert.equal((await late(25000)).result.failure?.type, "SyntaxError");
  assert.equal((await late(100)).result.failure, null);
});

test("what a key or a press put off is done before the next one", async () => {
  // As libraries draw: in a task of their own, after a promise.
  const body = `<div id="e" contenteditable="true">x</div><button id="b">Go</button><script>
    log = []; const later = (f) => Promise.resolve().then(() => { const { port1, port2 } = new MessageChannel(); port1.onmessage = f; port2.postMessage(0); });
    let drawn = true; const step = (what) => { log.push(drawn ? what : "too early"); drawn = false; later(() => { drawn = true; }); };
    e.addEventListener("keydown", (event) => step(event.key)); b.onmousedown = () => step("down"); b.onclick = () => step("click");</script>`;
  const { recording, url } = await recorded(body, async (page) => { await page.click("#e"); await page.type("abc"); await page.click("#b"); });
  assert.deepEqual((await replayed(url, recording, { look: "log" })).seen, ["a", "b", "c", "down", "click"]);
});

test("lists that look at the pointer now and then while something is dragged", async () => {
  const body = `<style>div { width: 200px; height: 60px } body { margin: 0 }</style><div id="a">A</div><div id="b">B</div><div id="c">C</div><script>
    log = []; let at, timer; onpointerdown = (event) => { at = event; timer = setInterval(() => { const over = document.elementFromPoint(at.clientX, at.clientY).id; if (log.at(-1) !== over) log.push(over); }, 50); };
    onpointermove = (event) => { at = event; }; onpointerup = () => { clearInterval(timer); log.push("dropped"); };</script>`;
  const { recording, url, more } = await recorded(body, async (page) => {
    const move = (type, y) => page.send("Input.dispatchMouseEvent", { type, x: 50, y, button: "left", buttons: 1, clickCount: 1 });
    await move("mousePressed", 30);
    for (const y of [60, 90, 120, 150]) {
      await move("mouseMoved", y);
      const id = ["a", "b", "c"][Math.floor(y / 60)];
      await page.until((id) => log.at(-1) === id, id);
    }
    await move("mouseReleased", 150);
    return page.eval("log");
  });
  assert.deepEqual(kinds(recording), ["drag"]);
  assert.deepEqual(more.slice(-3), ["b", "c", "dropped"]);
  assert.deepEqual((await replayed(url, recording, { look: "log" })).seen.slice(-3), ["b", "c", "dropped"]);
  const straight = recording.actions.map((action) => ({ ...action, path: [] }));
  assert.deepEqual((await replayed(url, recording, { actions: straight, look: "log" })).seen.slice(-3), ["b", "c", "dropped"]);
});

test("frames that go away while something is done in them", async () => {
  const body = `<button id="new">New</button><ul id="list"></ul><script>
    document.getElementById("new").onclick = () => { const frame = document.createElement("iframe"); frame.srcdoc = '<input id="to"><button id="send" onclick="parent.postMessage(to.value, &quot;*&quot;)">Send</button>'; document.body.append(frame); };
    onmessage = ({ data }) => { document.querySelector("iframe").remove(); list.append(Object.assign(document.createElement("li"), { textContent: data.split("@")[1].length })); };</script>`;
  const inside = (id) => `document.querySelector("iframe")?.contentDocument?.readyState === "complete" && document.querySelector("iframe").contentDocument.querySelector("#${id}")`;
  const press = async (page, id) => {
    await page.until(`!!(${inside(id)})`);
    const { x, y } = await page.eval(`(() => { const outer = document.querySelector("iframe").getBoundingClientRect(), box = ${inside(id)}.getBoundingClientRect(); return { x: outer.left + box.left + 8, y: outer.top + box.top + 8 }; })()`);
    for (const type of ["mousePressed", "mouseReleased"]) await page.send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
  };
  const { recording, url } = await recorded(body, async (page) => {
    for (const text of ["a@b", "c"]) {
      await page.click("#new");
      await press(page, "to");
      await page.type(text);
      await press(page, "send");
    }
    await page.until("__stunt.take().failure");
  });
  const { result } = await replayed(url, recording);
  assert.deepEqual(result.skipped, []);
  assert.deepEqual([result.failure?.type, result.failure?.after], ["TypeError", recording.failure.after]);
});

test("slots are where their hosts are, and what is on top of a shadow is not what is deeper in it", async () => {
  const body = `<x-panel></x-panel><script>log = [];
    const define = (name, inner, then) => customElements.define(name, class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: "open" }).innerHTML = inner; then?.(this.shadowRoot); } });
    define("x-button", "<button><slot></slot></button>", (root) => root.firstChild.onclick = () => log.push(root.host.textContent));
    define("x-panel", "<p>Text</p><x-button>Save</x-button><section><x-button>Yes</x-button></section><label><!-- of a template: 17 -->Name <input></label>");</script>`;
  const at = (expression) => `(() => { const box = document.querySelector("x-panel").shadowRoot.querySelectorAll(${expression}.getBoundingClientRect(); return { x: box.x + 5, y: box.y + 5 }; })()`;
  const { recording, url } = await recorded(body, async (page) => {
    for (const which of ['"x-button")[0]', '"x-button")[1]', '"input")[0]']) {
      const point = await page.eval(at(which));
      for (const type of ["mousePressed", "mouseReleased"]) await page.send("Input.dispatchMouseEvent", { type, ...point, button: "left", clickCount: 1 });
    }
    await page.type("a");
  });
  assert.deepEqual(recording.actions.map(({ target }) => target.tag), ["button", "button", "input", "input"]);
  assert.equal(recording.actions[2].target.name, "Name");
  const { result, seen } = await replayed(url, recording, { look: "log" });
  assert.deepEqual([result.skipped, seen], [[], ["Save", "Yes"]]);
});

test("errors of old libraries and of the browser have their names", async () => {
  const { recording, url } = await recorded(`<button id="b">Go</button><script>
    function Duplicate() { this.message = "m"; } Duplicate.prototype = Object.create(Error.prototype, { name: { value: "DuplicateError" }, constructor: { value: function () {} } });
    Object.defineProperty(Duplicate.prototype.constructor, "name", { value: "" });
    b.onclick = () => { Promise.reject(new Duplicate()); document.createElement("1"); };</script>`, async (page) => { await page.click("#b"); await page.until("__stunt.take().others.length"); });
  const all = [...recording.others, recording.failure].map(({ kind, type }) => `${kind} ${type}`).sort();
  assert.deepEqual(all, ["exception InvalidCharacterError", "rejection DuplicateError"]);
  const { result } = await replayed(url, recording, { options: { stop: false } });
  assert.deepEqual([result.failure, ...result.others].map(({ type }) => type).sort(), ["DuplicateError", "InvalidCharacterError"]);
});

test("what the browser does beside the page is waited for after each step, the last one too", async () => {
  const body = `<button id="b">Go</button><script>
    const blob = new Blob(["x".repeat(4e6)]), late = (what) => { throw new TypeError(what); };
    const ways = {
      reader() { const reader = new FileReader(); reader.onload = () => late("reader"); reader.readAsText(blob); },
      blob() { blob.arrayBuffer().then(() => late("blob")); },
      key() { crypto.subtle.digest("SHA-512", new Uint8Array(8e6)).then(() => late("key")); },
      store() { indexedDB.open("d").onsuccess = () => late("store"); },
      image() { const image = new Image(); image.onload = () => late("image"); image.src = URL.createObjectURL(new Blob(['<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'], { type: "image/svg+xml" })); },
      worker() { const worker = new Worker(URL.createObjectURL(new Blob(["onmessage = () => postMessage(1)"]))); worker.onmessage = () => late("worker"); worker.postMessage(1); },
      never() { const worker = new Worker(URL.createObjectURL(new Blob([""]))); worker.postMessage(1); },
    };
    b.onclick = () => ways[location.hash.slice(1)]();</script>`;
  const page = put(html(body));
  for (const way of ["reader", "blob", "key", "store", "image", "worker", "never"]) {
    const action = { id: 1, at_ms: 10, kind: "click", target: { selectors: [["#b"]], widget: "#b", tag: "button", role: "button", name: "Go", frame: [] }, offset: { x: 3, y: 3 }, button: 0, modifiers: [], needs: [], dialogs: [], calls: [] };
    const { result } = await replayed(`${server.url}${page}#${way}`, { actions: [action], answers: [], load: { dialogs: [], calls: [] } });
    assert.equal(result.failure?.type, way === "never" ? undefined : "TypeError", way);
  }
});

test("history, the fragment and the size of the window", async () => {
  const body = `<button id="b">b</button><script>log = []; b.onclick = () => history.pushState(1, "", "?page=2"); onpopstate = () => log.push("pop"); onhashchange = () => log.push("hash");</script>`;
  const { recording, url } = await recorded(body, async (page) => {
    await page.click("#b");
    await page.eval("new Promise((done) => setTimeout(done, 700))");
    const { entries, currentIndex } = await page.send("Page.getNavigationHistory");
    await page.send("Page.navigateToHistoryEntry", { entryId: entries[currentIndex - 1].id });
    await page.until("log.length === 1");
    await page.send("Emulation.setDeviceMetricsOverride", { width: 500, height: 400, deviceScaleFactor: 1, mobile: false });
    await page.until("__stunt.take().actions.at(-1).kind === 'resize'");
  });
  assert.deepEqual(kinds(recording), ["click", "navigate", "resize"]);
  assert.deepEqual([recording.actions[1].how, recording.actions[2].viewport.width], ["history", 500]);
  const { result, seen } = await replayed(url, recording, { look: "log" });
  assert.deepEqual([seen, result.skipped], [["pop"], [{ id: recording.actions[2].id, why: "unsupported" }]]);
});

test("the graph has widgets, listeners, and what enables what", async () => {
  const ripper = readFileSync(join(dist, "stunt-ripper.js"), "utf8");
  const body = `<form id="form"><button id="open" type="button">Open</button></form><script>document.getElementById("open").onclick = () => { const i = document.createElement("input"); i.id = "made"; i.addEventListener("input", () => {}); form.append(i); };</script>`;
  const { more } = await recorded(body, async (page) => { await page.click("#open"); await page.eval(ripper); return page.eval("__stunt.graph()"); });
  assert.equal(more.schema, "stunt-graph-1");
  assert.deepEqual(more.widgets.map((widget) => widget.id).sort(), ["#made", "#open"]);
  assert.deepEqual(more.listeners.map((listener) => [listener.id, listener.how, listener.calls]), [["click@#open", "property", 1], ["input@#made", "listener", 0]]);
  assert.deepEqual(more.enables, [{ kind: "click", widget: "#open", enables: "#made", times: 1 }]);
});

test("the consent dialog says what it would send, sends nothing before a yes, and is usable by all", async () => {
  const posts = [];
  routes["/reports"] = (request, response) => {
    let body = "";
    request.on("data", (data) => { body += data; });
    request.on("end", () => { posts.push({ cookie: request.headers.cookie, recording: JSON.parse(body) }); response.writeHead(204); response.end(); });
  };
  const source = readFileSync(join(dist, "stunt-consent.js"), "utf8");
  const axe = readFileSync(join(tools, "node_modules/axe-core/axe.min.js"), "utf8");
  const path = put(html(`<main><h1>Shop</h1><label>Name <input id="n"></label> <button id="b">Buy</button> <stunt-help></stunt-help><stunt-consent url="/reports"></stunt-consent></main>
    <script>document.cookie = "session=1"; b.onclick = () => { throw new Error("x"); };</script><script>${source}</script>`).replace("<html>", '<html lang="en">'));
  const part = (css) => `document.querySelector("stunt-consent").shadowRoot.querySelector(${JSON.stringify(css)})`;
  const press = async (page, css) => {
    const at = await page.eval(`(() => { const box = ${part(css)}.getBoundingClientRect(); return { x: box.left + box.width / 2, y: box.top + box.height / 2 }; })()`);
    for (const type of ["mousePressed", "mouseReleased"]) await page.send("Input.dispatchMouseEvent", { type, ...at, button: "left", clickCount: 1 });
  };
  const { recording } = await recorded(path, async (page) => {
    await page.click("#n");
    await page.type("Ann");
    await page.click("#b");
    await page.until(`${part("dialog")}.open`);
    assert.deepEqual(await page.eval(`[...${part("ol")}.children].map((item) => item.textContent)`), ["click “Name” (field)", "type “Ann” into “Name” (field)", "click “Buy” (button)"]);
    for (const scheme of ["light", "dark"]) {
      await page.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
      await page.eval(axe);
      const faults = await page.eval("axe.run().then((result) => result.violations.map((fault) => fault.id + ' ' + fault.nodes[0].html))");
      assert.deepEqual(faults, [], scheme);
    }
    assert.equal(posts.length, 0, "nothing has left the page");
    await press(page, "[name=decline]");
    assert.equal(await page.eval(`${part("dialog")}.open`), false);
    await page.eval("document.querySelector('stunt-help').shadowRoot.querySelector('button').click()");
    await page.until(`${part("dialog")}.open`);
    assert.equal(posts.length, 0);
    await press(page, "[name=send]");
    await page.until(`!${part("dialog")}.open`);
  });
  assert.deepEqual(posts.map((post) => [post.cookie, post.recording.schema, post.recording.failure.kind]), [[undefined, "stunt-recording-1", "assistance"]]);
  assert.deepEqual(kinds(recording), ["click", "type", "click"], "what was done in the dialog is not recorded");
});

test("the recorder is small", () => {
  // As servers send it now, and as the older ones do.
  assert.ok(brotliCompressSync(recorder).length < 12 * 1024 && gzipSync(recorder, { level: 9 }).length < 13.25 * 1024, `${gzipSync(recorder, { level: 9 }).length} bytes; brotli ${brotliCompressSync(recorder).length}`);
});
