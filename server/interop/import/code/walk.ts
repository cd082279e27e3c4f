import type { Expr, Statement } from "./program";

/** Visits an expression and those that it is made of, as long as `visit` answers true. */
export function visitParts(expr: Expr, visit: (expr: Expr) => boolean): void {
  if (visit(expr)) for (const part of partsOf(expr)) visitParts(part, visit);
}

function partsOf(expr: Expr): readonly Expr[] {
  switch (expr.is) {
    case "call":
      return [expr.callee, ...expr.args.map(({ value }) => value)];
    case "member":
      return [expr.of];
    case "index":
      return [expr.of, expr.index];
    case "binary":
      return [expr.left, expr.right];
    case "operation":
      return expr.operands;
    case "list":
      return expr.items.map((item) => ("spread" in item ? item.spread : item));
    case "record":
      return expr.entries.map((entry) => ("spread" in entry ? entry.spread : entry.value));
    case "text":
      return expr.parts.filter((part) => typeof part !== "string");
    default:
      return [];
  }
}

/** The expressions of a statement itself, without those of its body. */
export function expressionsOf(statement: Statement): readonly Expr[] {
  switch (statement.is) {
    case "assign":
      return [statement.target, statement.value];
    case "do":
      return [statement.value];
    case "return":
      return statement.value ? [statement.value] : [];
    case "block":
      return statement.head;
    default:
      return [];
  }
}
