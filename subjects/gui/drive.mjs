// What a person does on each subject, by trusted input, with the recorder in the page: makes `actions.json`, the
// recording, beside each page, and prints how it failed. `node subjects/gui/drive.mjs [NAME…]` after the packages are
// installed (`cargo xtask test` does it). Every person in it is invented.

import { readdirSync, writeFileSync } from "node:fs";
import { join, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { Browser, recorder, serve } from "../../gui/recorder/test/browser.mjs";
import { KNOWN } from "../../gui/recorder/test/known.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const known = (name) => KNOWN.find((entry) => entry.name === name).act;

async function upload(page, css, name, text) {
  const { root } = await page.send("DOM.getDocument");
  const { nodeId } = await page.send("DOM.querySelector", { nodeId: root.nodeId, selector: css });
  const path = join(page.browser.profile, name);
  writeFileSync(path, text);
  await page.send("DOM.setFileInputFiles", { nodeId, files: [path] });
}

export const SUBJECTS = {
  "summernote-colour": known("summernote"),
  "simplemde-side": known("simplemde"),
  "jsoneditor-path": known("jsoneditor"),
  "quill-link": known("quill"),
  "tabulator-required": known("tabulator"),
  "jspreadsheet-history": known("jspreadsheet"),
  async "datatables-search"(page) {
    await page.click("th@1");
    await page.click("input[type=search]");
    await page.type("Leeds");
    await page.key("a", { ctrl: true });
    await page.type("Rosalind Achebe (leeds");
  },
  async "lunr-search"(page) {
    await page.click("#q");
    await page.type("bread");
    await page.key("a", { ctrl: true });
    await page.type("dr okafor: biopsy 14 may");
  },
  async "fuse-search"(page) {
    await page.click("#q");
    await page.type("Ann");
    await page.click("#clear");
    await page.click("#q");
    await page.type("Marguerite Delacroix-Whitfield, Bristol");
  },
  async "highlight-search"(page) {
    await page.click("#q");
    await page.type("Ames invoice (Tomasz");
  },
  async "bootgrid-search"(page) {
    await page.click("th@0");
    await page.click(".search-field");
    await page.type("Ann");
    await page.type(" Kowalska [savings");
  },
  async "codemirror-search"(page) {
    await page.click(".CodeMirror-lines");
    await page.type("To Henrik Dahl");
    await page.key("Enter");
    await page.key("f", { ctrl: true });
    await page.type("/dahl (/");
    await page.key("Enter");
  },
  async "csv-import"(page) {
    await page.click("#head");
    await page.click("#head");
    await upload(page, "#f", "people.csv", 'name,phone,note\n"Ann Lee",0113 496 0021,"likes tea"\n"Rob "Bobby" Marsh",0113 496 0044,friend\n"Ida Brandt",0113 496 0090,aunt\n');
  },
  async "select-search"(page) {
    await page.until(() => document.querySelector(".bootstrap-select button"));
    await page.click(".bootstrap-select button");
    await page.type("bakery");
    await page.key("a", { ctrl: true });
    await page.type("Neill) florist");
  },
  async "spreadsheet-formula"(page) {
    const enter = async (x, y, text) => {
      await page.click(".x-spreadsheet-overlayer", { at: [x, y] });
      // The editor opens with the first character, after a moment.
      await page.type(text[0]);
      await page.until((text) => document.querySelector(".x-spreadsheet-editor textarea")?.value === text && document.activeElement.localName === "textarea", text[0]);
      await page.type(text.slice(1));
      await page.key("Enter");
    };
    await enter(120, 60, "Rent");
    await enter(220, 110, "=SUMME(A1:A4)");
  },
  async "tabulator-filter"(page) {
    await page.click(".tabulator-header-filter input");
    await page.type("Ann|(Ngozi Bello");
  },
};

async function main(names) {
  const [browser, server] = [await Browser.start(), await serve()];
  for (const name of names) {
    const page = await browser.page(`${server.url}/subjects/gui/${name}/index.html`, { scripts: [recorder] });
    try {
      await SUBJECTS[name](page);
      await page.until("__stunt.take().failure !== null");
      const recording = await page.eval("__stunt.taken()");
      // The port is another one each time, and means nothing.
      const text = JSON.stringify(recording, null, 1).replaceAll(server.url, "http://127.0.0.1:8000");
      writeFileSync(join(here, name, "actions.json"), text + "\n");
      const { kind, type, frames } = recording.failure;
      console.log(`${name}: ${recording.actions.length} actions, ${kind} ${type} in ${frames[0]?.function} ${frames[0]?.path}:${frames[0]?.line}:${frames[0]?.column}`);
    } catch (error) {
      console.log(`${name}: ${error.message}; ${page.errors.map((thrown) => thrown.exception?.description?.split("\n")[0])}`);
    }
    await page.close();
  }
  await browser.close();
  server.close();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const all = readdirSync(here, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => entry.name).sort();
  await main(process.argv.length > 2 ? process.argv.slice(2) : all);
}
