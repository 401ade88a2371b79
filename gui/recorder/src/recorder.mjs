// The same as a module: importing it begins to record. Late, compared with a script in the head: say so in the page.

import "./recorder.js";

/** @type {import("../dist/stunt-recorder.d.ts").Stunt} */
export const stunt = window.__stunt;
export default stunt;
