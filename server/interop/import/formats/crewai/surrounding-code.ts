import type { Findings, Raw } from "@/server/domain/base/lenient-reader";
import { type Evaluator, NO_SCOPE, type Routine } from "../../code/evaluator";
import { calledName, isCallOf, pathOf } from "../../code/literals";
import { type Place, sourceOf } from "../../code/program";

/** As much of a function or class as is kept in a note. */
export const MOST_CODE = 3_000;

/** Says what code runs around a crew: before it, after it, and flows that call it. Its text goes to `programs`. */
export function reportSurroundingCode(
  evaluator: Evaluator,
  report: (place: Place) => Findings,
  programs: Map<string, string>,
): void {
  for (const [name, when] of [
    ["before_kickoff", "before the crew starts"],
    ["after_kickoff", "after the crew finishes"],
  ] as const)
    for (const routine of decorated(evaluator, name)) {
      report(routine).dropped(
        "",
        `"${routine.name}" is code that runs ${when} and was left out. It is kept in a note.`,
      );
      programs.set(routine.name, sourceOf(evaluator.program, routine, MOST_CODE));
    }
  for (const flow of evaluator.classes.values())
    if (flow.bases.some((base) => pathOf(base.is === "index" ? base.of : base)?.at(-1) === "Flow")) {
      report(flow).dropped(
        "",
        `The flow "${flow.name}" is code that decides what runs when; it was left out and is kept in a note.`,
      );
      programs.set(flow.name, sourceOf(evaluator.program, flow, MOST_CODE));
    }
  for (const { call } of evaluator.calls)
    if (isCallOf(call, "kickoff_for_each", "kickoff_for_each_async"))
      report(call).dropped("", "The crew ran once per input; here a run has one input.");
}

/** What a crew is given to begin with, by name; null where only code can tell. */
export function inputsOf(evaluator: Evaluator): Raw {
  for (const { call } of evaluator.calls) {
    if (!isCallOf(call, "kickoff", "kickoff_async")) continue;
    const bound = { expr: call, scope: NO_SCOPE };
    const inputs = evaluator.argument(bound, "inputs") ?? evaluator.positional(bound);
    const expr = inputs && evaluator.resolve(inputs).expr;
    if (expr?.is !== "record") continue;
    const found: Raw = {};
    for (const entry of expr.entries)
      if (!("spread" in entry) && entry.key !== "__proto__")
        found[entry.key] = evaluator.json({ expr: entry.value, scope: NO_SCOPE }) ?? null;
    return found;
  }
  return {};
}

/** `TripCrew` -> `Trip Crew`: the class that makes the crew. */
export function titleOf(evaluator: Evaluator): string | null {
  const isMethod = decorated(evaluator, "crew").length > 0;
  const classes = [...evaluator.classes.values()];
  const made = classes.find(({ name }) => /crew$/i.test(name)) ?? (isMethod ? classes[0] : undefined);
  return made ? made.name.replace(/([a-z0-9])([A-Z])/g, "$1 $2") : null;
}

/** Functions and methods with this decorator, in their order. */
export const decorated = (evaluator: Evaluator, decorator: string): Routine[] =>
  [...new Set(evaluator.functions.values())].filter(({ decorators }) =>
    decorators.some((one) => (calledName(one) ?? pathOf(one)?.at(-1)) === decorator),
  );
