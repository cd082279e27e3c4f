import { checkExpression } from "@/server/domain/text/expression/expression";
import { literal } from "./template";

/** How a flow's names are called here: `state.x`, and the results of methods. */
export interface FlowNames {
  state(name: string): string;
  output(method: string): string;
}

const TOKENS =
  /"(?:[^"\\]|\\[\s\S])*"?|'(?:[^'\\]|\\[\s\S])*'?|\b(state|outputs)\s*(?:\.\s*([A-Za-z_]\w*)|\[\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\])(\s*\.\s*(?:raw|json_dict|pydantic)\b)?/g;

/** A flow's CEL with the names that its values have here; null where it is none that can be read here. */
export function toExpression(source: string, names: FlowNames): string | null {
  const expression = source
    .trim()
    .replace(TOKENS, (all, root: string | undefined, dotted, double, single, kind) => {
      if (root === undefined) return all;
      const name = String(dotted ?? double ?? single);
      // Only results of methods come in kinds; a state may well have a field called raw.
      if (root === "outputs") return `state.${names.output(name)}`;
      return `state.${names.state(name)}${kind ?? ""}`;
    });
  return checkExpression(expression).length === 0 ? expression : null;
}

/** The `${...}` of a text with the text between them. */
export type Piece = { text: string } | { source: string };

/** Takes a text apart; braces inside of an expression and its quotes are counted. */
export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (let start = text.indexOf("${"); start >= 0; start = text.indexOf("${", from)) {
    const end = endOf(text, start + 2);
    if (end < 0) break;
    if (start > from) pieces.push({ text: text.slice(from, start) });
    pieces.push({ source: text.slice(start + 2, end).trim() });
    from = end + 1;
  }
  if (from < text.length) pieces.push({ text: text.slice(from) });
  return pieces;
}

function endOf(text: string, start: number): number {
  let depth = 1;
  let quote = "";
  for (let at = start; at < text.length; at++) {
    const char = text.charAt(at);
    if (quote) {
      if (char === "\\") at++;
      else if (char === quote) quote = "";
    } else if (char === '"' || char === "'") quote = char;
    else if (char === "{") depth++;
    else if (char === "}" && --depth === 0) return at;
  }
  return -1;
}

export interface FlowText {
  template: string;
  /** Values that the template reads under names of its own. */
  mapping: Record<string, string>;
  /** Expressions that can't be translated; they stay in the text unchanged. */
  unread: string[];
}

/** A text with `${...}` as a template; what is more than a path is computed before. */
export function toFlowTemplate(text: string, names: FlowNames, taken: readonly string[] = []): FlowText {
  const mapping: Record<string, string> = {};
  const unread: string[] = [];
  const template = piecesOf(text)
    .map((piece) => {
      if ("text" in piece) return literal(piece.text);
      const expression = toExpression(piece.source, names);
      if (expression === null) {
        unread.push(piece.source);
        return literal(`\${${piece.source}}`);
      }
      const path = statePath(expression);
      if (path !== undefined) return `{{${path}}}`;
      let key = "value";
      for (let n = 2; key in mapping || taken.includes(key); n++) key = `value_${n}`;
      mapping[key] = expression;
      return `{{${key}}}`;
    })
    .join("");
  return { template, mapping, unread };
}

/** A value of a flow's mapping as an expression: a lone `${...}` keeps its type; null where it cannot be read. */
export function toValue(value: unknown, names: FlowNames): string | null {
  if (typeof value !== "string") return celOf(value);
  const pieces = piecesOf(value);
  const parts = pieces.map((piece) => {
    if ("text" in piece) return celOf(piece.text);
    const expression = toExpression(piece.source, names);
    return expression === null ? null : pieces.length === 1 ? expression : `string(${expression})`;
  });
  if (parts.length === 0) return '""';
  return parts.every((part) => part !== null) ? parts.join(" + ") : null;
}

/** JSON as CEL writes it. */
function celOf(value: unknown): string | null {
  const text = JSON.stringify(value ?? null);
  return checkExpression(text).length === 0 ? text : null;
}

/** `state.a.b` -> `a.b`; undefined for anything that is more than names and dots. */
function statePath(expression: string): string | undefined {
  const [first, ...names] = expression.split(".");
  const isPath = first === "state" && names.length > 0 && names.every((name) => /^[A-Za-z_]\w*$/.test(name));
  return isPath ? names.join(".") : undefined;
}
