// The six crashes of real releases that are known: page, what a person does, and a version or page that is clean.

export const KNOWN = [
  { name: "summernote", steps: 1, page: "summernote073.html", control: "summernote081.html", type: "TypeError", top: "/summernote.js",
    async act(page) { await page.click(".note-current-color-button"); } },
  { name: "simplemde", steps: 1, page: "simplemde.html", control: "simplemde-control.html", type: "TypeError", top: "/simplemde.min.js",
    async act(page) { await page.click("a.fa-columns"); } },
  { name: "jsoneditor", steps: 2, page: "jsoneditor5247.html", control: "jsoneditor5250.html", type: "TypeError", top: "/jsoneditor.js",
    async act(page) {
      await page.click("div.jsoneditor-value");
      await page.until(() => document.querySelector(".jsoneditor-treepath-seperator"));
      await page.click(".jsoneditor-treepath-seperator");
    } },
  { name: "quill", steps: 4, page: "quill102.html", control: "quill104.html", type: "TypeError", top: "/quill.js",
    async act(page) {
      await page.click(".ql-editor");
      await page.type("Dear Ms Ames");
      await page.key("a", { ctrl: true });
      await page.click(".ql-link");
    } },
  { name: "tabulator", steps: 4, page: "tab462.html", control: "tab463.html", type: "TypeError", top: "/tabulator.js",
    async act(page) {
      await page.click("#add");
      await page.click(".tabulator-cell@1");
      await page.click("#del");
      await page.click(".tabulator-cell@0");
    } },
  { name: "jspreadsheet", steps: 13, page: "jss4150.html", without: 3, type: "TypeError", top: "/index.js", dialogs: true,
    async act(page) {
      await page.click("tbody td[data-x='0'][data-y='0']", { button: "right" });
      await page.click(".jcontextmenu > div@2");
      await page.click("thead td[data-x='2']", { button: "right" });
      await page.click(".jcontextmenu > div@3");
      await page.click("tbody td[data-x='0'][data-y='0']");
      for (const key of "zzyyzzyy") await page.key(key, { ctrl: true });
    } },
];
