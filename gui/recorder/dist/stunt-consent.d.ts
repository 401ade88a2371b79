import type { Recording } from "./stunt-recorder.js";

/** `<stunt-consent url="…">`; fires `stunt-sent` and `stunt-declined`, which bubble. */
export interface StuntConsent extends HTMLElement {
  show(recording: Recording): void;
}

declare global {
  interface HTMLElementTagNameMap {
    "stunt-consent": StuntConsent;
    "stunt-help": HTMLElement;
  }
}
