import type { Findings, Raw } from "@/server/domain/base/lenient-reader";
import { given, isCallOf, jsonOf, pathOf, positional } from "../../code/literals";
import { type Place, sourceOf } from "../../code/program";
import type { CodeScope } from "./code-scope";

/** As much of a function or class as is kept in a note. */
export const MOST_CODE = 3_000;

/** Says what code runs around a crew: before it, after it, and flows that call it. Its text goes to `programs`. */
export function sayAround(
  scope: CodeScope,
  here: (place: Place) => Findings,
  programs: Map<string, string>,
): void {
  for (const [name, when] of [
    ["before_kickoff", "before the crew begins"],
    ["after_kickoff", "after the crew has ended"],
  ] as const)
    for (const routine of scope.decorated(name)) {
      here(routine).dropped(
        "",
        `"${routine.name}" is code that runs ${when}, and was left out. It stands in a note.`,
      );
      programs.set(routine.name, sourceOf(scope.program, routine, MOST_CODE));
    }
  for (const flow of scope.classes)
    if (flow.bases.some((base) => pathOf(base.is === "index" ? base.of : base)?.at(-1) === "Flow")) {
      here(flow).dropped(
        "",
        `The flow "${flow.name}" is code, which decides what runs when; it was left out and stands in a note.`,
      );
      programs.set(flow.name, sourceOf(scope.program, flow, MOST_CODE));
    }
  for (const { call } of scope.calls)
    if (isCallOf(call, "kickoff_for_each", "kickoff_for_each_async"))
      here(call).dropped("", "The crew ran once for each of several inputs; here a run has one.");
}

/** What a crew is given to begin with, by name; null where only code can tell. */
export function inputsOf(scope: CodeScope): Raw {
  for (const { call } of scope.calls) {
    if (!isCallOf(call, "kickoff", "kickoff_async")) continue;
    const inputs = given(call, "inputs") ?? positional(call, 0);
    const { expr } = inputs ? scope.resolved({ expr: inputs, names: new Map() }) : { expr: null };
    if (expr?.is !== "record") continue;
    const found: Raw = {};
    for (const entry of expr.entries)
      if (!("spread" in entry) && entry.key !== "__proto__")
        found[entry.key] = jsonOf(scope.resolved({ expr: entry.value, names: new Map() }).expr) ?? null;
    return found;
  }
  return {};
}

/** `TripCrew` -> `Trip Crew`: the class that makes the crew. */
export function titleOf(scope: CodeScope): string | null {
  const isMethod = scope.decorated("crew").length > 0;
  const made =
    scope.classes.find(({ name }) => /crew$/i.test(name)) ?? (isMethod ? scope.classes[0] : undefined);
  return made ? made.name.replace(/([a-z0-9])([A-Z])/g, "$1 $2") : null;
}
