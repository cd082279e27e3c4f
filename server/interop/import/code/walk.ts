import type { Expr, Statement } from "./program";

/** The items of a list, or the one that stands in its place. */
export function itemsOf(expr: Expr): Expr[] {
  if (expr.is !== "list") return [expr];
  return expr.items.map((item) => ("spread" in item ? item.spread : item));
}

/** The blocks within a statement, without those of functions. */
export function bodiesOf(statement: Statement): (readonly Statement[])[] {
  switch (statement.is) {
    case "if":
      return [...statement.branches.map(({ body }) => body), statement.otherwise];
    case "while":
    case "for":
    case "block":
      return [statement.body];
    default:
      return [];
  }
}

/** Visits an expression and those that it is made of, as long as `visit` answers true. */
export function visitParts(expr: Expr, visit: (expr: Expr) => boolean): void {
  if (visit(expr)) for (const part of operandsOf(expr)) visitParts(part, visit);
}

function operandsOf(expr: Expr): Expr[] {
  switch (expr.is) {
    case "call":
      return [expr.callee, ...expr.args.map(({ value }) => value)];
    case "member":
    case "not":
    case "negative":
      return [expr.of];
    case "index":
      return [expr.of, expr.index];
    case "binary":
      return [expr.left, expr.right];
    case "choice":
      return [expr.test, expr.then, expr.otherwise];
    case "list":
      return itemsOf(expr);
    case "record":
      return expr.entries.map((entry) => ("spread" in entry ? entry.spread : entry.value));
    case "text":
      return expr.parts.filter((part) => typeof part !== "string");
    default:
      return [];
  }
}

/** The expressions of a statement itself, without those of its blocks. */
export function expressionsOf(statement: Statement): Expr[] {
  switch (statement.is) {
    case "assign":
      return [statement.target, statement.value];
    case "take":
    case "do":
      return [statement.value];
    case "if":
      return statement.branches.map(({ test }) => test);
    case "while":
      return [statement.test];
    case "for":
      return statement.of ? [statement.of] : [];
    case "return":
      return statement.value ? [statement.value] : [];
    case "block":
      return [...statement.head];
    default:
      return [];
  }
}
