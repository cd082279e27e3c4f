import { defined } from "@/server/domain/base/defined";
import { WorkError } from "@/server/domain/base/work-budget";
import type { Work } from "../regex/work";

/** Whether a value satisfies a rule. `unknown`: the rule can't be checked here, so the value isn't rejected for it. */
export type Verdict = "yes" | "no" | "unknown";

/** An error in a value, and where. The message continues the path: "is missing", "must be text". */
export interface ValidationError {
  path: (string | number)[];
  message: string;
  /** What a type or a list of allowed values would have taken here, so that alternatives can be told together. */
  wanted?: readonly string[];
}

/** The way from the whole value to a part of it. */
export interface Place {
  parent: Place | null;
  key: string | number;
}

/** What the rules of one schema have looked at, for those about the rest. */
export class Seen {
  private keys = new Set<string>();
  private items = new Set<number>();
  private isEveryKey = false;
  private isEveryItem = false;
  private firstItems = 0;

  key(name: string) {
    this.keys.add(name);
  }
  item(index: number) {
    this.items.add(index);
  }
  itemsUpTo(count: number) {
    this.firstItems = Math.max(this.firstItems, count);
  }
  everyKey() {
    this.isEveryKey = true;
  }
  everyItem() {
    this.isEveryItem = true;
  }
  hasKey = (name: string) => this.isEveryKey || this.keys.has(name);
  hasItem = (index: number) => this.isEveryItem || index < this.firstItems || this.items.has(index);

  add(other: Seen, work: Work) {
    work.spend((other.keys.size + other.items.size) * 20);
    for (const name of other.keys) this.keys.add(name);
    for (const index of other.items) this.items.add(index);
    this.isEveryKey ||= other.isEveryKey;
    this.isEveryItem ||= other.isEveryItem;
    this.firstItems = Math.max(this.firstItems, other.firstItems);
  }
}

/** One rule of a schema. `seen` is null if evaluated keys and items aren't tracked. */
export type Check = (value: unknown, place: Place | null, run: Run, seen: Seen | null) => Verdict;

/** A part of a schema with its own address, the target of references. */
export interface Resource {
  address: string;
  root: unknown;
  anchors: Map<string, object>;
  dynamicAnchors: Map<string, Node>;
}

/** A schema made ready to be checked. */
export interface Node {
  resource: Resource;
  checks: Check[];
  /** Whether it asks what its other rules have looked at. */
  asksForRest: boolean;
  /** Schemas that are applied to the same value. */
  inPlace: Node[];
  /** Whether it leads to itself without going into the value. */
  isEndless: boolean;
  /** For filling in defaults. */
  properties: Map<string, Node>;
  items: Node | null;
  always: Node[];
  standard: unknown;
}

const MAX_DEPTH = 500;
export const MAX_ERRORS = 8;

/** One check of one value. */
export class Run {
  private depth = 0;
  /** The resources on the way, for references that depend on it. */
  readonly scope: Resource[] = [];
  /** Null if errors aren't collected. */
  errors: ValidationError[] | null;

  constructor(
    readonly work: Work,
    wantsErrors = true,
  ) {
    this.errors = wantsErrors ? [] : null;
  }

  /** Notes what is wrong; answers "no". */
  refuse(place: Place | null, message: string, wanted?: readonly string[]): "no" {
    this.work.spend(20);
    if (this.errors && this.errors.length < MAX_ERRORS) {
      this.errors.push({ path: pathOf(place), message, ...defined({ wanted }) });
    }
    return "no";
  }

  /** Runs a check without collecting errors, or collecting them in a separate list. */
  aside<T>(errors: ValidationError[] | null, check: () => T): T {
    const before = this.errors;
    this.errors = errors;
    const result = check();
    this.errors = before;
    return result;
  }

  check(node: Node, value: unknown, place: Place | null, seen: Seen | null): Verdict {
    this.work.spend(4 + 2 * node.checks.length);
    if (++this.depth > MAX_DEPTH) throw new WorkError("This is nested too deeply.");
    const isNew = this.scope.at(-1) !== node.resource;
    if (isNew) this.scope.push(node.resource);
    const mine = seen || node.asksForRest ? new Seen() : null;
    if (mine) this.work.spend(20);
    let verdict: Verdict = "yes";
    if (node.isEndless) {
      verdict = "unknown";
      mine?.everyKey();
      mine?.everyItem();
    } else
      for (const check of node.checks) {
        verdict = both(verdict, check(value, place, this, mine));
        if (verdict === "no" && (!this.errors || this.errors.length >= MAX_ERRORS)) break;
      }
    if (isNew) this.scope.pop();
    this.depth--;
    if (verdict !== "no" && mine && seen) seen.add(mine, this.work);
    return verdict;
  }
}

/** The verdict on two rules that must both hold. */
export const both = (a: Verdict, b: Verdict): Verdict =>
  a === "no" || b === "no" ? "no" : a === "unknown" || b === "unknown" ? "unknown" : "yes";

function pathOf(place: Place | null): (string | number)[] {
  const path: (string | number)[] = [];
  for (let at = place; at; at = at.parent) path.unshift(at.key);
  return path;
}
