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

/** Whether an expression, or a function in it, holds one that is looked for. */
export function holds(expr: Expr, isIt: (expr: Expr) => boolean): boolean {
  if (isIt(expr)) return true;
  switch (expr.is) {
    case "call":
      return holds(expr.callee, isIt) || expr.args.some(({ value }) => holds(value, isIt));
    case "member":
    case "not":
    case "negative":
      return holds(expr.of, isIt);
    case "index":
      return holds(expr.of, isIt) || holds(expr.index, isIt);
    case "binary":
      return holds(expr.left, isIt) || holds(expr.right, isIt);
    case "choice":
      return holds(expr.test, isIt) || holds(expr.then, isIt) || holds(expr.otherwise, isIt);
    case "list":
      return expr.items.some((item) => holds("spread" in item ? item.spread : item, isIt));
    case "record":
      return expr.entries.some((entry) => holds("spread" in entry ? entry.spread : entry.value, isIt));
    case "text":
      return expr.parts.some((part) => typeof part !== "string" && holds(part, isIt));
    case "function":
      return holdsIn(expr.body, isIt);
    default:
      return false;
  }
}

/** Whether statements hold an expression that is looked for; functions declared among them are left out. */
export function holdsIn(statements: readonly Statement[], isIt: (expr: Expr) => boolean): boolean {
  return statements.some((statement) => {
    if (expressionsOf(statement).some((expr) => holds(expr, isIt))) return true;
    return bodiesOf(statement).some((body) => holdsIn(body, isIt));
  });
}

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
