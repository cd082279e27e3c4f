import { parseJson } from "@/server/domain/base/json";
import type { Json, JsonObject } from "@/server/domain/base/values";

/** A scripted answer, written into any message as `[[offline: ...]]`. */
export type Directive =
  | { kind: "text"; text: string }
  | { kind: "json"; text: string }
  | { kind: "tools"; calls: { name: string; args: JsonObject }[] }
  | { kind: "handoff"; agent: string }
  | { kind: "malformed" }
  | { kind: "refuse" }
  | { kind: "textcall"; text: string };

/** What happens before the answer, or instead of it for the first `times` attempts. */
export type ScriptedFailure =
  | { kind: "error"; status: number; retryAfter: string | null; times: number }
  | { kind: "drop"; chunks: number; times: number }
  | { kind: "truncate"; times: number }
  | { kind: "blank"; times: number };

/** Everything that directives say about one turn of a conversation. */
export interface DirectedTurn {
  failures: ScriptedFailure[];
  delayMs: number;
  /** null: never answers. */
  hangMs: number | null;
  think: string | null;
  answer: Directive | null;
}

const OPENING = /\[\[offline:/gi;

/** The text between `[[offline:` and the `]]` that ends it, for each directive; JSON inside may hold brackets. */
function bodies(text: string): { body: string; from: number; to: number }[] {
  const found: { body: string; from: number; to: number }[] = [];
  OPENING.lastIndex = 0;
  for (let match = OPENING.exec(text); match; match = OPENING.exec(text)) {
    const from = match.index;
    const start = from + match[0].length;
    const end = closing(text, start);
    if (end < 0) break;
    found.push({ body: text.slice(start, end).trim(), from, to: end + 2 });
    OPENING.lastIndex = end + 2;
  }
  return found;
}

function closing(text: string, start: number): number {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at++) {
    const sign = text[at];
    if (inString) {
      if (sign === "\\") at++;
      else if (sign === '"') inString = false;
    } else if (sign === '"') inString = true;
    else if (sign === "[" || sign === "{") depth++;
    else if (sign === "]" && text[at + 1] === "]" && depth === 0) return at;
    else if ((sign === "]" || sign === "}") && depth > 0) depth--;
  }
  return text.indexOf("]]", start);
}

/** The message without its directives: what the demo model talks about. */
export function withoutDirectives(text: string): string {
  let plain = "";
  let at = 0;
  for (const { from, to } of bodies(text)) {
    plain += text.slice(at, from);
    at = to;
  }
  return (plain + text.slice(at)).replace(/(?<![ \t])[ \t]+\n/g, "\n").trim();
}

/** A message without its crew's status: directives in it script the agent of that task, and are often truncated. */
export function withoutStatus(text: string): string {
  const closing = /\n<\/crew_status>$/gm;
  let plain = "";
  let at = 0;
  for (const { index } of text.matchAll(/^<crew_status>\n/gm)) {
    if (index < at) continue;
    closing.lastIndex = index;
    if (!closing.test(text)) break;
    plain += text.slice(at, index);
    at = closing.lastIndex;
  }
  return plain + text.slice(at);
}

const newTurn = (): DirectedTurn => ({ failures: [], delayMs: 0, hangMs: 0, think: null, answer: null });

/** Sorts the directives of a conversation into turns: an answer ends a turn, the rest prepares the next answer. */
export function readTurns(texts: readonly string[]): DirectedTurn[] {
  const turns: DirectedTurn[] = [];
  let turn = newTurn();
  let open = false;
  const seen = new Set<string>();
  for (const text of texts)
    for (const { body } of bodies(text)) {
      // A value shown twice in one prompt (in the task and among the inputs) is still one instruction.
      if (seen.has(body)) continue;
      seen.add(body);
      open = true;
      if (applyTo(turn, body)) {
        turns.push(turn);
        turn = newTurn();
        open = false;
      }
    }
  if (open) turns.push(turn);
  return turns;
}

/** Adds one directive to a turn; says whether it was the turn's answer. */
function applyTo(turn: DirectedTurn, body: string): boolean {
  const [, word = "", rest = ""] = /^(\S+)\s*([\s\S]*)/.exec(body) ?? [];
  switch (word.toLowerCase()) {
    case "error":
      turn.failures.push({
        kind: "error",
        status: integer(/^\d{3}/.exec(rest)?.[0], 500),
        retryAfter: /retry-after=(\S+)/.exec(rest)?.[1] ?? null,
        times: times(rest),
      });
      return false;
    case "drop-after":
      turn.failures.push({ kind: "drop", chunks: integer(/^\d+/.exec(rest)?.[0], 1), times: times(rest) });
      return false;
    case "truncate":
      turn.failures.push({ kind: "truncate", times: times(rest) });
      return false;
    case "blank":
      turn.failures.push({ kind: "blank", times: times(rest) });
      return false;
    case "hang":
      turn.hangMs = rest.trim() === "" ? null : duration(rest);
      return false;
    case "delay":
      turn.delayMs = duration(rest);
      return false;
    case "think":
      turn.think = quoted(rest);
      return false;
    default:
      turn.answer = answerOf(word.toLowerCase(), rest);
      return turn.answer !== null;
  }
}

function answerOf(word: string, rest: string): Directive | null {
  switch (word) {
    case "text":
      return { kind: "text", text: quoted(rest) };
    case "json":
      return { kind: "json", text: rest.trim() };
    case "tool": {
      const [, name = "", args = ""] = /^(\S+)\s*([\s\S]*)/.exec(rest) ?? [];
      return { kind: "tools", calls: [{ name, args: objectOf(args) }] };
    }
    case "tools":
      return { kind: "tools", calls: callsOf(rest) };
    case "handoff":
      return { kind: "handoff", agent: quoted(rest) };
    case "malformed":
      return { kind: "malformed" };
    case "refuse":
      return { kind: "refuse" };
    case "textcall":
      return { kind: "textcall", text: rest.trim() };
    default:
      return null;
  }
}

const times = (rest: string) => integer(/\bx(\d+)\b/.exec(rest)?.[1], 1);
const integer = (text: string | undefined, otherwise: number) =>
  text === undefined ? otherwise : Number.parseInt(text, 10);

function duration(text: string): number {
  const [, amount = "0", unit = "ms"] = /^(\d+(?:\.\d+)?)\s*(ms|s)?/.exec(text.trim()) ?? [];
  return Number(amount) * (unit === "s" ? 1000 : 1);
}

function quoted(rest: string): string {
  const text = rest.trim();
  if (!text.startsWith('"')) return text;
  const value = jsonOf(text);
  return typeof value === "string" ? value : text.replace(/^"|"$/g, "");
}

function objectOf(text: string): JsonObject {
  const value = jsonOf(text.trim() || "{}");
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
}

function callsOf(text: string): { name: string; args: JsonObject }[] {
  const value = jsonOf(text.trim());
  if (!Array.isArray(value)) return [];
  return value.flatMap((call) => {
    if (typeof call === "string") return [{ name: call, args: {} }];
    if (call === null || typeof call !== "object" || Array.isArray(call)) return [];
    const args = call.args ?? call.arguments;
    return [
      {
        name:
          typeof call.name === "string"
            ? call.name
            : typeof call.tool_name === "string"
              ? call.tool_name
              : "",
        args: args !== null && typeof args === "object" && !Array.isArray(args) ? args : {},
      },
    ];
  });
}

function jsonOf(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
