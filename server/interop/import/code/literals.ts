import type { Json } from "@/server/domain/base/values";
import type { CallExpr, Entry, Expr, RecordExpr } from "./program";

/** The text that is written; null where values are put into it. */
export function textOf(expr: Expr | null | undefined): string | null {
  if (expr?.is !== "text") return null;
  const texts = expr.parts.filter((part) => typeof part === "string");
  return texts.length === expr.parts.length ? texts.join("") : null;
}

/** The value that an expression always is, as JSON; undefined where it depends on anything. */
export function jsonOf(expr: Expr): Json | undefined {
  switch (expr.is) {
    case "number":
    case "boolean":
      return expr.value;
    case "nothing":
      return null;
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

/** The name that is called, without what precedes the last dot. */
export function calledName(expr: Expr): string | null {
  if (expr.is !== "call") return null;
  const callee = expr.callee.is === "index" ? expr.callee.of : expr.callee;
  return callee.is === "name" ? callee.name : callee.is === "member" ? callee.key : null;
}

export function isCallOf(expr: Expr | null | undefined, ...names: string[]): expr is CallExpr {
  const called = expr ? calledName(expr) : null;
  return called !== null && names.includes(called);
}

/** The nth argument without a name. */
export function positional(call: CallExpr, at = 0): Expr | null {
  return call.args.filter(({ name, isSpread }) => name === null && !isSpread)[at]?.value ?? null;
}

/** The value of a record under a key; the last one if the key is repeated. */
export function entryOf(record: RecordExpr, key: string): Expr | null {
  return (
    record.entries.findLast((entry): entry is Entry => !("spread" in entry) && entry.key === key)?.value ??
    null
  );
}
