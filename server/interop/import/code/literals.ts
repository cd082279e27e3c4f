import type { Json } from "@/server/domain/base/values";
import type { CallExpr, Entry, Expr, RecordExpr } from "./program";

/** The text that an expression always is; null where it depends on anything. */
export function textOf(expr: Expr | null | undefined): string | null {
  const parts = expr ? textParts(expr) : null;
  if (!parts) return null;
  const texts = parts.filter((part) => typeof part === "string");
  return texts.length === parts.length ? texts.join("") : null;
}

/** A text in its pieces: also joined by "+", by `[...].join(...)`, stripped of its indentation. Null: this is no text. */
export function textParts(expr: Expr): (string | Expr)[] | null {
  if (expr.is === "text") return [...expr.parts];
  if (expr.is === "binary" && expr.operator === "+") {
    const [left, right] = [textParts(expr.left), textParts(expr.right)];
    // A number plus a value is no text; with a text on either side it is.
    if (!left && !right) return null;
    return [...(left ?? [expr.left]), ...(right ?? [expr.right])];
  }
  if (expr.is === "call" && expr.callee.is === "member") {
    const { of, key } = expr.callee;
    if (key === "join") return joined(expr, of);
    if (["trim", "strip", "trimEnd", "trimStart"].includes(key) && expr.args.length === 0) {
      const text = textOf(of);
      return text === null ? null : [text.trim()];
    }
  }
  const [only] = expr.is === "call" && expr.args.length === 1 ? expr.args : [];
  if (only && isCallOf(expr, "dedent")) return dedented(only.value);
  return null;
}

/** `list.join(text)` and `text.join(list)`. */
function joined({ args }: CallExpr, of: Expr): (string | Expr)[] | null {
  const [first] = args;
  const [list, separator] =
    of.is === "list" ? [of, first ? textOf(first.value) : ","] : [first?.value, textOf(of)];
  if (list?.is !== "list" || separator === null) return null;
  const parts: (string | Expr)[] = [];
  for (const [at, item] of list.items.entries()) {
    if ("spread" in item) return null;
    if (at > 0) parts.push(separator);
    parts.push(...(textParts(item) ?? [item]));
  }
  return parts;
}

function dedented(expr: Expr): string[] | null {
  const text = textOf(expr);
  if (text === null) return null;
  const lines = text.split("\n");
  const depths = lines.filter((line) => line.trim()).map((line) => /^\s*/.exec(line)?.[0].length ?? 0);
  const depth = depths.length > 0 ? Math.min(...depths) : 0;
  return [lines.map((line) => line.slice(Math.min(depth, line.length))).join("\n")];
}

/** The value that an expression always is, as JSON; undefined where it depends on anything. */
export function jsonOf(expr: Expr | null | undefined): Json | undefined {
  if (!expr) return undefined;
  switch (expr.is) {
    case "number":
    case "boolean":
      return expr.value;
    case "nothing":
      return null;
    case "negative":
      return expr.of.is === "number" ? -expr.of.value : undefined;
    case "list": {
      const items = expr.items.map((item) => ("spread" in item ? undefined : jsonOf(item)));
      return items.every((item) => item !== undefined) ? items : undefined;
    }
    case "record": {
      const record: Record<string, Json> = {};
      for (const entry of expr.entries) {
        const value = "spread" in entry ? undefined : jsonOf(entry.value);
        if ("spread" in entry || value === undefined || entry.key === "__proto__") return undefined;
        record[entry.key] = value;
      }
      return record;
    }
    default:
      return textOf(expr) ?? undefined;
  }
}

/** `a.b.c` as its names; null where it is anything else. */
export function pathOf(expr: Expr): string[] | null {
  const path: string[] = [];
  let current = expr;
  while (current.is === "member") {
    path.unshift(current.key);
    current = current.of;
  }
  return current.is === "name" ? [current.name, ...path] : null;
}

/** The name that is called, without what stands before the last dot. */
export function calledName(expr: Expr): string | null {
  if (expr.is !== "call") return null;
  const callee = expr.callee.is === "index" ? expr.callee.of : expr.callee;
  return callee.is === "name" ? callee.name : callee.is === "member" ? callee.key : null;
}

export function isCallOf(expr: Expr | null | undefined, ...names: string[]): expr is CallExpr {
  const called = expr ? calledName(expr) : null;
  return called !== null && names.includes(called);
}

/** What is given under a name: a keyword argument, or a key of the object that is given. */
export function given(call: CallExpr, ...names: string[]): Expr | null {
  for (const name of names) {
    const keyword = call.args.find((argument) => argument.name === name);
    if (keyword) return keyword.value;
    for (const { value } of call.args) {
      const found = value.is === "record" ? entryOf(value, name) : null;
      if (found) return found;
    }
  }
  return null;
}

/** The nth argument without a name. */
export function positional(call: CallExpr, at: number): Expr | null {
  return call.args.filter(({ name, isSpread }) => name === null && !isSpread)[at]?.value ?? null;
}

/** The value of a record under a key; the last one where it stands twice. */
export function entryOf(record: RecordExpr, key: string): Expr | null {
  return (
    record.entries.findLast((entry): entry is Entry => !("spread" in entry) && entry.key === key)?.value ??
    null
  );
}
