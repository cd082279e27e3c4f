import type { Findings, Raw } from "@/server/domain/base/lenient-reader";
import type { CrewModel } from "./model";

/** What sets a method off: the name of a method or label, or several of them. */
export type Condition = string | { how: "and" | "or"; of: Condition[] };

/** A method of a flow as its file describes it. */
export interface Method {
  name: string;
  raw: Raw;
  /** What it does: an object with `call`. */
  action: Raw;
  report: Findings;
  start: true | Condition | null;
  listen: Condition | null;
  /** Its answer is the next label. */
  isRouter: boolean;
  emit: string[];
  feedback: Raw | null;
  /** What a person can answer to its feedback; each is a label. */
  outcomes: string[];
  /** Steps that come before its action, where code describes it. */
  before?: Method[];
  /** The crew of its action, where code makes it. */
  crew?: CrewModel;
  /** Expressions that it writes to the state, by field; empty where only its code tells them. */
  writes?: ReadonlyMap<string, string>;
  /** The code that it was read from. */
  code?: string;
}

/** All names in a condition. */
export const triggersIn = (condition: true | Condition | null): string[] =>
  condition === null || condition === true
    ? []
    : typeof condition === "string"
      ? [condition]
      : condition.of.flatMap(triggersIn);
