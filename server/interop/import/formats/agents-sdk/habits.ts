import { calledName, pathOf } from "../../code/literals";
import type { Expr, Statement } from "../../code/program";
import { holds } from "../../code/walk";

// Habits of programs that say nothing about the work that is done.

/** `if (!answer) throw`: a step that gives nothing fails by itself. */
export function isFailure(test: Expr, body: readonly Statement[]): boolean {
  const isAnswer = (expr: Expr) => expr.is === "member" && /^(finalOutput|final_output)$/.test(expr.key);
  return holds(test, isAnswer) && body.every(({ is }) => is === "throw" || is === "nothing");
}

/** `if __name__ == "__main__"`, `if (require.main === module)`. */
export function isMain(test: Expr): boolean {
  return holds(test, (expr) => {
    const path = pathOf(expr)?.join(".");
    return path === "__name__" || path === "require.main" || path === "import.meta.main";
  });
}

/** What `exit(1)` and its like end the program with, 0 where nothing is said; null for any other call. */
export function exitOf(expr: Expr): number | null {
  const path = expr.is === "call" ? pathOf(expr.callee)?.join(".") : undefined;
  if (expr.is !== "call" || !/^(exit|quit|sys\.exit|os\._exit|process\.exit|Deno\.exit)$/.test(path ?? ""))
    return null;
  const code = expr.args[0]?.value;
  if (!code || code.is === "nothing") return 0;
  return code.is === "number" ? code.value : 1;
}

/** Whether a loop only shows an answer while it is written. */
export function isStream(of: Expr): boolean {
  return holds(
    of,
    (expr) =>
      /^(stream_events|streamEvents|toTextStream|toStream|stream)$/.test(calledName(expr) ?? "") ||
      (expr.is === "name" && /stream/i.test(expr.name)),
  );
}

/** Whether a loop is left from inside. */
export function leaves(body: readonly Statement[]): boolean {
  return body.some((statement) => {
    if (statement.is === "break" || statement.is === "return" || statement.is === "throw") return true;
    if (statement.is === "if")
      return [...statement.branches.map((one) => one.body), statement.otherwise].some(leaves);
    return statement.is === "block" && leaves(statement.body);
  });
}

/** Whether statements end the program. */
export const stops = (body: readonly Statement[]): boolean =>
  body.some((one) => one.is === "do" && exitOf(one.value) !== null);
