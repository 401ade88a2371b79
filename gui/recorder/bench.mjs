// What a listener call costs with the recorder in the page, compared with none: microseconds a call, the lowest of
// many short rounds in which both take turns (whatever else the machine does can only add). Prints the table for BENCHMARKS.md; nothing passes or fails by it.

import { Browser, recorder, serve } from "./test/browser.mjs";

const ROUNDS = 40;
const CALLS = 1000;

/** Each is code in a page: `make(button)` registers, `fire(button)` makes one listener call. */
const CASES = [
  ["addEventListener, empty", "b.addEventListener('click', () => {})"],
  ["addEventListener, reads a value", "b.addEventListener('click', () => f.value)"],
  ["addEventListener, reads 4 values and the clock", "b.addEventListener('click', () => { f.value; c.checked; s.value; p.textContent; Date.now(); })"],
  ["property", "b.onclick = () => {}"],
  ["attribute", "b.setAttribute('onclick', '')"],
  ["delegated, 10 levels above", "document.getElementById('top').addEventListener('click', (event) => event.target.closest('button'))"],
  ["object with handleEvent", "b.addEventListener('click', { handleEvent() {} })"],
  ["60 listeners, each once after a real click", "for (let i = 0; i < 60; i++) { const x = document.createElement('button'); x.className = 'x'; x.addEventListener('click', () => {}); top_.append(x); }", true],
];
const PAGE = `<!doctype html><body><div id="top"><div id="top_"></div>${"<div>".repeat(9)}<button id="b">B</button>${"</div>".repeat(9)}</div>
  <input id="f" value="x"><input type="checkbox" id="c"><select id="s"><option>1</select><p id="p">text</p></body>`;

async function measure(page) {
  return page.eval((calls) => {
    const event = () => b.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    for (let i = 0; i < calls / 10; i++) event();
    const start = performance.now();
    for (let i = 0; i < calls; i++) event();
    return (1000 * (performance.now() - start)) / calls;
  }, CALLS);
}


/** The first call of each listener by an action: what has to be written down is written down there. */
async function measureFirst(page) {
  await page.click("#p");
  return page.eval(() => {
    const all = [...document.querySelectorAll(".x")];
    const start = performance.now();
    for (const one of all) one.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    return (1000 * (performance.now() - start)) / all.length;
  });
}

const server = await serve({ "/bench": (_, response) => { response.writeHead(200, { "content-type": "text/html" }); response.end(PAGE); } });
const browser = await Browser.start();
console.log("| listener | without, µs a call | with, µs | added, µs |\n|---|---:|---:|---:|");
for (const [name, make, first] of CASES) {
  const pages = await Promise.all([[], [recorder]].map((scripts) => browser.page(`${server.url}/bench`, { scripts })));
  for (const page of pages) {
    await page.eval(`${make}; 0`);
    await page.click("#p"); // an action, for which calls are counted
  }
  const figures = [[], []];
  for (let round = 0; round < ROUNDS; round++) for (const i of [0, 1]) figures[i].push(await (first ? measureFirst : measure)(pages[i]));
  const [without, with_] = figures.map((list) => Math.min(...list));
  console.log(`| ${name} | ${without.toFixed(2)} | ${with_.toFixed(2)} | ${(with_ - without).toFixed(2)} |`);
  for (const page of pages) await page.close();
}
await browser.close();
server.close();
