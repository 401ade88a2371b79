/** `stunt-recording-1`: see docs/gui-recording.md for what each field means. */
export interface Recording {
  schema: "stunt-recording-1";
  recorder: string;
  page: { url: string; title: string; viewport: Viewport; language: string; agent: string };
  begun: number;
  environment: {
    clock: number;
    performance: number;
    zone: string;
    dark: boolean;
    seed: [number, number, number, number] | null;
    crypto: string[];
    storage: { area: "local" | "session" | "cookie"; key: string; value: string; read: boolean }[];
  };
  load: Happened;
  actions: Action[];
  answers: Answer[];
  failure: Failure | null;
  others: Failure[];
  gaps: string[];
  dropped: number;
}

export interface Viewport { width: number; height: number; scale: number }
export interface Point { x: number; y: number }
export type Modifier = "ctrl" | "shift" | "alt" | "meta";

export interface Dialog { type: "alert" | "confirm" | "prompt" | "beforeunload"; answer: boolean | string | null }

export interface Secret {
  length: "0" | "1-8" | "9-16" | "17-32" | "33+";
  classes: ("lower" | "upper" | "digit" | "other")[];
}

export interface Read {
  what: "value" | "checked" | "selectedIndex" | "selectedOptions" | "text" | "html" | "files" | "clock" | "random";
  widget?: string;
  value?: string | number | boolean;
  secret?: Secret;
}

export interface Call {
  listener: string;
  event: string;
  how: "listener" | "property" | "attribute";
  count: number;
  reads: Read[];
}

/** What an action, or the load of the page, set off. */
export interface Happened { dialogs: Dialog[]; calls: Call[]; more_calls?: number }

export interface Target {
  selectors: string[][];
  widget: string;
  tag: string;
  role: string;
  name: string;
  frame: number[];
  type?: string;
  public?: true;
  editable?: "field" | "rich";
}

export interface RecordedFile {
  name: string;
  type: string;
  size: number;
  modified: number;
  body: string | null;
  omitted?: "too-large" | "unreadable";
}

interface Begun extends Happened { id: number; at_ms: number; needs: number[] }
interface Pointing extends Begun {
  target: Target;
  offset: Point;
  button: number;
  modifiers: Modifier[];
  pointer?: "touch" | "pen";
  selection?: { start: number; end: number };
}

export type Action =
  | (Pointing & { kind: "click" | "dblclick" | "auxclick" })
  | (Omit<Pointing, "offset"> & { kind: "contextmenu"; offset?: Point })
  | (Begun & { kind: "type"; target: Target; text?: string; secret?: Secret; public?: true })
  | (Begun & { kind: "key"; target: Target; key: string; code: string; modifiers: Modifier[]; repeat: number })
  | (Begun & { kind: "change"; target: Target; value?: string; values?: string[]; secret?: Secret; public?: true })
  | (Begun & { kind: "file"; target: Target; files: RecordedFile[]; public?: true })
  | (Begun & { kind: "paste"; target: Target; text?: string; secret?: Secret; html?: string; files?: RecordedFile[]; public?: true })
  | (Begun & { kind: "cut" | "copy"; target: Target })
  | (Pointing & { kind: "drag"; to: Target; to_offset: Point; path: [number, number][]; native: boolean; files?: RecordedFile[]; public?: true })
  | (Begun & { kind: "wheel"; target: Target; offset: Point; delta: Point; modifiers: Modifier[] })
  | (Begun & { kind: "scroll"; target?: Target; scroll: Point })
  | (Begun & { kind: "hover"; target: Target; offset: Point })
  | (Begun & { kind: "resize"; viewport: Viewport })
  | (Begun & { kind: "navigate"; how: "history" | "hash" | "load"; url: string });

export interface Answer {
  id: number;
  after: number;
  at_ms: number;
  kind: "fetch" | "xhr" | "websocket" | "eventsource";
  method: string;
  url: string;
  status: number;
  headers: Record<string, string>;
  body: string;
  encoding: "text" | "base64";
  omitted?: "too-large";
}

export interface Failure {
  kind: "exception" | "rejection" | "console" | "assertion" | "assistance";
  type: string;
  after: number;
  at_ms: number;
  frames: { function: string; path: string; line: number; column: number }[];
}

/** `stunt-graph-1`, once `stunt-ripper.js` was run, too. */
export interface Graph {
  schema: "stunt-graph-1";
  widgets: { id: string; parent: string | null; tag: string; role: string; name: string; selectors: string[][]; frame: number[]; visible: boolean; enabled: boolean }[];
  listeners: { id: string; widget: string; event: string; how: Call["how"]; calls: number }[];
  enables: { kind: Action["kind"]; widget: string; enables: string; times: number }[];
}

export interface Settings {
  actions?: number;
  console?: boolean;
  assert?: boolean;
  persist?: boolean;
  bodies?: number;
  files?: number;
  reads?: boolean;
  random?: boolean;
}

export interface Stunt {
  readonly version: string;
  take(): Recording;
  taken(): Promise<Recording>;
  on(handler: (recording: Recording) => void): () => void;
  assist(): void;
  clear(): void;
  pause(): void;
  resume(): void;
  graph?(): Graph;
}

declare global {
  interface Window {
    __stunt: Stunt;
    __stuntConfig?: Settings;
    __stuntReport?: (recording: string) => void;
  }
}

export const stunt: Stunt;
export default stunt;
