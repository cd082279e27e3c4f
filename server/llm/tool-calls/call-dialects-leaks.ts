import { callsBehindToken, wrappedCalls } from "./call-dialects";
import { beginsCall } from "./call-dialects-tokens";
import { type ReadCall, readTextCalls } from "./text-calls";

/** Calls that an answer holds although no tool was on offer. */
export interface Leak {
  /** Each once; empty where no name can be read. */
  names: string[];
  /** The whole answer is JSON, which a caller may have asked for. */
  isJson: boolean;
}

/**
 * Finds what can't be meant as an answer: JSON in a wrapper for calls as the whole answer, or a call after a chat
 * template token, outside of fenced code, where people show such things. Null if there is none.
 */
export function findLeak(text: string): Leak | null {
  const wrapped = wrappedCalls(text.trim(), []);
  if (wrapped) return { names: namesOf(wrapped), isJson: true };
  const at = leakAt(text);
  if (at < 0) return null;
  const rest = text.slice(at).trimStart();
  const calls = HERMES_OR_MISTRAL.test(rest)
    ? readTextCalls(rest).calls
    : (callsBehindToken(rest, { tools: [], isCut: false })?.calls ?? []);
  const isLeak = /^<[|｜]/.test(rest) || calls.some(({ fault }) => fault === undefined);
  return isLeak ? { names: namesOf(calls), isJson: false } : null;
}

const namesOf = (calls: readonly ReadCall[]) => [
  ...new Set(calls.map(({ tool_name }) => tool_name).filter((name) => name !== "")),
];

const HERMES_OR_MISTRAL =
  /^[ \t]*(?:<tool_call>\s*[{[]|\[TOOL_CALLS\]\s*(?:\[\s*\{|[\w.:/-]{1,200}\s*(?:\[ARGS\]\s*)?\{))/;

/**
 * The offset of the first line outside of fences that starts with a marker that only calls have; -1 if there is none.
 */
function leakAt(text: string): number {
  let isFenced = false;
  for (let at = 0; ; ) {
    const head = text.slice(at, at + 400);
    if (/^[ \t]*(?:`{3}|~~~)/.test(head)) isFenced = !isFenced;
    else if (!isFenced && (HERMES_OR_MISTRAL.test(head) || beginsCall(text, at))) return at;
    const newline = text.indexOf("\n", at);
    if (newline < 0) return -1;
    at = newline + 1;
  }
}
