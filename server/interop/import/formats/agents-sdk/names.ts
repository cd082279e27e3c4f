import type { Work } from "@/server/domain/base/work-budget";
import type { Expr, Place, Statement } from "../../code/program";
import { bodiesOf, expressionsOf, holds } from "../../code/walk";
import type { Names } from "./evaluate";
import type { Ground } from "./ground";
import { exitOf } from "./habits";
import { mergedMessages, type Value } from "./values";

/** What names stand for where several ways meet: as before, where all ways agree. */
export function mergeNames(
  into: Names,
  ways: readonly Names[],
  place: Place,
  { declarations, work }: Pick<Ground, "declarations" | "work">,
): void {
  const isBlockScoped = declarations.program.language === "typescript";
  const [first] = ways;
  if (!first) return;
  const all = new Set(ways.flatMap((way) => [...way.keys()]));
  for (const name of all) {
    if (isBlockScoped && !into.has(name)) continue;
    const values = ways.flatMap((way) => way.get(name) ?? []);
    const [one] = values;
    if (!one) continue;
    if (values.every((value) => value.is === "messages"))
      into.set(name, {
        is: "messages",
        messages: mergedMessages(
          values.flatMap((value) => (value.is === "messages" ? [value.messages] : [])),
        ),
      });
    else if (values.every((value) => isSame(one, value, work))) into.set(name, one);
    else into.set(name, { is: "unknown", unknown: { name, ...place }, path: [] });
  }
}

function isSame(a: Value, b: Value, work: Work): boolean {
  work.spend(1);
  if (a === b) return true;
  if ((a.is === "run" || a.is === "output" || a.is === "whole") && a.is === b.is)
    return "key" in a.run.answer && "key" in b.run.answer && a.run.answer.key === b.run.answer.key;
  if (a.is === "record" && b.is === "record")
    return (
      a.fields.size === b.fields.size &&
      [...a.fields].every(([key, value]) => {
        const other = b.fields.get(key);
        return other !== undefined && isSame(value, other, work);
      })
    );
  return (a.is === "path" || a.is === "json" || a.is === "cel") && JSON.stringify(a) === JSON.stringify(b);
}

/**
 * Names of variables that change while the program runs: counted up, or set at several places to other things than an
 * agent's answer. They become keys of the state.
 */
export function changingNames(body: readonly Statement[], isAnswer: (expr: Expr) => boolean): Set<string> {
  const times = new Map<string, number>();
  const answers = new Set<string>();
  const changing = new Set<string>();
  // Functions in each other are met by each of those around them.
  const seen = new Set<readonly Statement[]>();
  const look = (statements: readonly Statement[]): void => {
    if (seen.has(statements)) return;
    seen.add(statements);
    for (const statement of statements) {
      if (statement.is === "assign" && statement.target.is === "name") {
        const { name } = statement.target;
        if (!statement.isNew || !times.has(name)) times.set(name, (times.get(name) ?? 0) + 1);
        if (statement.operator !== "=") changing.add(name);
        if (
          isAnswer(statement.value) ||
          /^(list|record)$/.test(statement.value.is) ||
          statement.value.is === "function"
        )
          answers.add(name);
      }
      for (const inner of bodiesOf(statement)) look(inner);
      for (const expr of expressionsOf(statement))
        holds(expr, (one) => {
          if (one.is === "function") look(one.body);
          return false;
        });
    }
  };
  look(body);
  for (const [name, count] of times) if (count > 1) changing.add(name);
  for (const name of answers) changing.delete(name);
  return changing;
}

/** Names that statements set, also inside others. */
export const namesSet = (body: readonly Statement[]): string[] =>
  body.flatMap((statement) => [
    ...(statement.is === "assign" && statement.target.is === "name" ? [statement.target.name] : []),
    ...bodiesOf(statement).flatMap(namesSet),
  ]);

/** Whether statements do more than show or check: they end, go round, or do what is looked for. */
export function isQuiet(statements: readonly Statement[], acts: (statement: Statement) => boolean): boolean {
  return statements.every((statement) => {
    if (/^(return|throw|break|continue)$/.test(statement.is)) return false;
    if (statement.is === "do" && exitOf(statement.value) !== null) return false;
    return !acts(statement) && bodiesOf(statement).every((body) => isQuiet(body, acts));
  });
}
