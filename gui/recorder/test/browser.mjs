// A browser for tests: chromium-headless-shell through its debugging pipe, without any package; and a server of files.

import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, extname } from "node:path";
import { fileURLToPath } from "node:url";

export const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, "../../..");
export const dist = join(here, "../dist");
export const tools = process.env.STUNT_GUI_TOOLS || join(root, "target/tools/gui");
export const recorder = readFileSync(join(dist, "stunt-recorder.js"), "utf8");
export const replay = readFileSync(join(dist, "stunt-replay.js"), "utf8");

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".json": "application/json" };

/** Serves `/node_modules` from the tools, `/dist`, `/subjects`, and the pages; `routes` come first. */
export async function serve(routes = {}) {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://x").pathname);
    if (routes[path]) return routes[path](request, response);
    const file = path.startsWith("/node_modules/") ? join(tools, path)
      : path.startsWith("/dist/") ? join(here, "..", path)
        : path.startsWith("/subjects/") ? join(root, path) : join(here, "pages", path);
    if (path.includes("..") || !existsSync(file) || !statSync(file).isFile()) {
      response.writeHead(404);
      return response.end();
    }
    response.writeHead(200, { "content-type": TYPES[extname(file)] || "application/octet-stream" });
    response.end(readFileSync(file));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

const PATHS = ["/usr/bin/chromium-headless-shell", "/usr/lib/chromium/headless_shell"];

export class Browser {
  static async start() {
    const browser = new Browser();
    const program = process.env.STUNT_CHROMIUM || PATHS.find(existsSync);
    if (!program) throw new Error("no chromium-headless-shell: apt-get install chromium-headless-shell");
    browser.profile = mkdtempSync(join(tmpdir(), "stunt-gui-"));
    browser.process = spawn(program, ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe", `--user-data-dir=${browser.profile}`], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    browser.waiting = new Map();
    browser.listeners = new Set();
    browser.next = 1;
    let rest = Buffer.alloc(0);
    browser.process.stdio[4].on("data", (data) => {
      rest = Buffer.concat([rest, data]);
      for (let end; (end = rest.indexOf(0)) >= 0; rest = rest.subarray(end + 1)) browser.take(JSON.parse(rest.subarray(0, end)));
    });
    return browser;
  }

  take(message) {
    if (message.id) {
      const { resolve, reject, method } = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (message.error) reject(new Error(`${method}: ${message.error.message}`));
      else resolve(message.result);
    } else for (const listener of [...this.listeners]) listener(message);
  }

  send(method, params = {}, sessionId) {
    const id = this.next++;
    this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject, method }));
  }

  /** A page in a context of its own, with scripts that run before those of the page. */
  async page(url, { scripts = [], dialogs = [], width = 1000, height = 800 } = {}) {
    const { browserContextId } = await this.send("Target.createBrowserContext");
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank", browserContextId, width, height });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, browserContextId, sessionId, dialogs);
    await Promise.all([page.send("Page.enable"), page.send("Runtime.enable"), page.send("Emulation.setFocusEmulationEnabled", { enabled: true })]);
    await page.send("Runtime.addBinding", { name: "__stuntReport" });
    for (const source of scripts) await page.send("Page.addScriptToEvaluateOnNewDocument", { source });
    if (url) await page.open(url);
    return page;
  }

  async close() {
    const gone = new Promise((done) => this.process.once("exit", done));
    this.send("Browser.close").catch(() => {});
    setTimeout(() => this.process.kill("SIGKILL"), 3000).unref();
    await gone;
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

export class Page {
  constructor(browser, context, session, dialogs) {
    Object.assign(this, { browser, context, session, dialogs, errors: [], reports: [] });
    this.listener = (message) => {
      if (message.sessionId !== session) return;
      if (message.method === "Runtime.exceptionThrown") this.errors.push(message.params.exceptionDetails);
      if (message.method === "Runtime.bindingCalled") this.reports.push(JSON.parse(message.params.payload));
      if (message.method === "Page.javascriptDialogOpening") {
        const answer = this.dialogs.length ? this.dialogs.shift() : true;
        this.send("Page.handleJavaScriptDialog", { accept: answer !== false && answer !== null, promptText: typeof answer === "string" ? answer : undefined });
      }
      if (message.method === "Page.loadEventFired") this.loaded?.();
    };
    browser.listeners.add(this.listener);
  }

  send(method, params) {
    return this.browser.send(method, params, this.session);
  }

  async open(url) {
    const loaded = new Promise((done) => { this.loaded = done; });
    await this.send("Page.navigate", { url });
    await loaded;
  }

  /** The value of an expression, or of a function with arguments. */
  async eval(code, ...args) {
    const expression = typeof code === "function" ? `(${code})(${args.map((arg) => JSON.stringify(arg)).join()})` : code;
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description || exceptionDetails.text);
    return result.value;
  }

  /** Middle of an element (or the point `at` in it) in the viewport; `css` may name an index: "td@3". */
  async point(css, at) {
    const [query, index] = css.split("@");
    const found = await this.eval((query, index, at) => {
      const el = document.querySelectorAll(query)[index];
      if (!el) return null;
      el.scrollIntoView({ block: "nearest" });
      const box = el.getBoundingClientRect();
      return at ? [box.left + at[0], box.top + at[1]] : [box.left + box.width / 2, box.top + box.height / 2];
    }, query, +(index || 0), at);
    if (!found) throw new Error(`no ${css}`);
    return { x: found[0], y: found[1] };
  }

  async click(css, { button = "left", count = 1, modifiers = 0, at } = {}) {
    const point = await this.point(css, at);
    await this.send("Input.dispatchMouseEvent", { type: "mouseMoved", ...point, modifiers });
    for (let clickCount = 1; clickCount <= count; clickCount++) {
      const event = { ...point, button, clickCount, modifiers };
      await this.send("Input.dispatchMouseEvent", { type: "mousePressed", ...event });
      await this.send("Input.dispatchMouseEvent", { type: "mouseReleased", ...event });
    }
  }

  async drag(from, to) {
    const a = await this.point(from), b = await this.point(to);
    const mid = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
    await this.send("Input.dispatchMouseEvent", { type: "mouseMoved", ...a });
    await this.send("Input.dispatchMouseEvent", { type: "mousePressed", ...a, button: "left", clickCount: 1 });
    for (const point of [mid, b]) await this.send("Input.dispatchMouseEvent", { type: "mouseMoved", ...point, button: "left", buttons: 1 });
    await this.send("Input.dispatchMouseEvent", { type: "mouseReleased", ...b, button: "left", clickCount: 1 });
  }

  async type(text) {
    for (const char of text) {
      const code = /[a-z]/i.test(char) ? "Key" + char.toUpperCase() : /\d/.test(char) ? "Digit" + char : "";
      const virtual = /[a-z0-9]/i.test(char) ? char.toUpperCase().charCodeAt(0) : 0;
      const shared = { key: char, code, windowsVirtualKeyCode: virtual };
      await this.send("Input.dispatchKeyEvent", { type: "keyDown", text: char, unmodifiedText: char, ...shared });
      await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...shared });
    }
  }

  async key(key, { ctrl = false, shift = false, alt = false } = {}) {
    const codes = { Enter: 13, Tab: 9, Backspace: 8, Delete: 46, Escape: 27, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Home: 36, End: 35, " ": 32 };
    const virtual = codes[key] ?? key.toUpperCase().charCodeAt(0);
    const code = key === " " ? "Space" : codes[key] ? key : "Key" + key.toUpperCase();
    const modifiers = (alt ? 1 : 0) | (ctrl ? 2 : 0) | (shift ? 8 : 0);
    const commands = ctrl ? { a: ["selectAll"], z: [shift ? "redo" : "undo"], y: ["redo"] }[key] || [] : [];
    const text = key === "Enter" ? "\r" : key === " " ? " " : undefined;
    await this.send("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", key, code, windowsVirtualKeyCode: virtual, modifiers, commands, text });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", key, code, windowsVirtualKeyCode: virtual, modifiers });
  }

  async until(code, ...args) {
    for (let i = 0; i < 100; i++) {
      if (await this.eval(code, ...args)) return;
      await new Promise((done) => setTimeout(done, 30));
    }
    throw new Error(`never: ${code}`);
  }

  close() {
    this.browser.listeners.delete(this.listener);
    return this.browser.send("Target.disposeBrowserContext", { browserContextId: this.context });
  }
}
