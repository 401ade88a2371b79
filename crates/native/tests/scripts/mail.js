// Summarises mail: headers, an empty line, a JSON body. A header without a colon is not understood.
"use strict";

const fs = require("fs");

class MailError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = "MailError";
  }
}

function header(line) {
  const colon = line.split(":");
  return [colon[0].toLowerCase(), colon[1].trim()];
}

function body(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new MailError("the body is bad: " + text, { cause: error });
  }
}

function thread(text, at) {
  return text[at] === ">" ? thread(text, at) + 1 : 0;
}

function summary(text) {
  const [head, rest] = text.split("\n\n");
  if (head.startsWith(">")) return thread(head, 0);
  if (head === "quit") {
    console.error(new Error("not so bad"));
    process.exit(1);
  }
  if (head.startsWith("raise ")) throw head.slice(6);
  const headers = new Map(head.split("\n").map(header));
  return { subject: headers.get("subject"), keys: Object.keys(body(rest)) };
}

console.log(summary(fs.readFileSync(process.argv[2], "utf8")));
