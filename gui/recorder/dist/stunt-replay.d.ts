import type { Action, Dialog, Failure, Point, Recording, Secret, Target } from "./stunt-recorder.js";

export interface Preparation {
  clock?: boolean;
  random?: boolean;
  storage?: boolean;
  network?: boolean;
  dialogs?: boolean;
  missing?: "pass" | "fail";
}

export interface Run {
  pace?: number | "recorded";
  until?: number;
  stop?: boolean;
  want?: Failure;
  kinds?: Failure["kind"][];
  settle?: number;
  last?: number;
}

export interface Replayed {
  schema: "stunt-replayed-1";
  done: number[];
  skipped: { id: number; why: "missing" | "disabled" | "hidden" | "frame" | "unsupported" }[];
  failure: Failure | null;
  others: Failure[];
  unanswered: number;
  elapsed_ms: number;
  error?: string;
}

export type Located =
  | { found: false; why: "missing" | "frame" }
  | { found: true; x: number; y: number; width: number; height: number; by: number; tag: string; editable: "" | "field" | "rich"; visible: boolean; enabled: boolean };

export interface StuntReplay {
  readonly version: string;
  prepare(recording: Partial<Pick<Recording, "page" | "environment" | "load" | "answers">>, options?: Preparation): void;
  run(actions: Action[], options?: Run): Promise<Replayed>;
  one(action: Action): Promise<{ done: true } | { done: false; why: string }>;
  locate(target: Target, offset?: Point): Located;
  begin(action: Pick<Action, "id" | "at_ms" | "dialogs">): void;
  deliver(id: number): void;
  answer(dialogs: Dialog[]): void;
  advance(at_ms: number): void;
  settle(options?: { gap?: number; most?: number }): Promise<void>;
  failures(): Failure[];
  stand_in(secret: Secret): string;
}

declare global {
  interface Window { __stuntReplay: StuntReplay }
}
