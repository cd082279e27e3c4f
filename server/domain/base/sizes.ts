import { isList, isObject } from "./guards";

/**
 * How much a run may keep, all in characters: those of texts and keys, and a few for every number and bracket. So they
 * are the characters of the JSON but for its escapes; on the disk one takes 1 to 3 bytes.
 */
export const SIZES = {
  /**
   * The state of a run, and with it each value in it, each node's input and output. As much as a request may bring, so
   * that whatever a run can be started with fits. `most` is what its settings may ask for.
   */
  state: { standard: 2 * 1024 * 1024, most: 8 * 1024 * 1024 },
  /** All that a run writes down. A run that reaches it stops, and goes on once it is raised. */
  log: { standard: 64 * 1024 * 1024, most: 512 * 1024 * 1024 },
  /** One event, and one answer from outside: of a model, a tool, a piece of code. */
  event: 8 * 1024 * 1024,
  /** The words of one error. */
  error: 4000,
} as const;

/** How large a workflow may be. */
export const GRAPH_LIMITS = {
  nodes: 1000,
  edges: 4000,
  configBytes: 256 * 1024,
  graphBytes: 2 * 1024 * 1024,
  /** Characters of expressions and of what stands in {{ }}: 50 to 150 ms of the thread while a workflow is checked. */
  readChars: 256 * 1024,
};

/** Containers are measured once: what a run holds is never changed, only replaced. */
const known = new WeakMap<object, number>();
/** Smaller ones are counted again faster than they are looked up. */
const WORTH_KEEPING = 200;

/** The size of a value in characters, as `SIZES` counts them. Does not make the text. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (value === null || typeof value !== "object") return value === undefined ? 0 : 5;
  const before = known.get(value);
  if (before !== undefined) return before;
  let size = 2;
  if (isList(value)) for (const item of value) size += sizeOf(item) + 1;
  else if (isObject(value))
    for (const key in value) {
      const inner = value[key];
      // JSON knows no undefined.
      if (inner !== undefined) size += key.length + 4 + sizeOf(inner);
    }
  if (size >= WORTH_KEEPING) known.set(value, size);
  return size;
}

/** A size in words: "3,400,000 characters". */
export const sizeText = (size: number): string => `${Math.round(size).toLocaleString("en-US")} characters`;

/** A text that people read, cut where it is longer than anyone reads. */
export const cutText = (text: string, most: number = SIZES.error): string =>
  text.length <= most ? text : `${text.slice(0, most)}… (${sizeText(text.length)} in all)`;
