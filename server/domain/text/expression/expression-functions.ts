import { conversions } from "../functions/conversions";
import type { CelFunction } from "../functions/define";
import { listFunctions } from "../functions/lists";
import { numberFunctions } from "../functions/numbers";
import { optionalFunctions } from "../functions/optionals";
import { textFunctions } from "../functions/texts";
import { timeFunctions } from "../functions/times";

/**
 * Every function of expressions, in one table: what it takes and gives (read by the checks before it runs), what it
 * does, and how it is offered in the editor. Each counts its work before it does it.
 */
const table = new Map<string, CelFunction[]>();
for (const one of [
  ...textFunctions,
  ...conversions,
  ...numberFunctions,
  ...listFunctions,
  ...optionalFunctions,
  ...timeFunctions,
])
  table.set(one.name, [...(table.get(one.name) ?? []), one]);

/** All functions of that name that are called in that way. */
export function functionsNamed(name: string, isMethod: boolean): readonly CelFunction[] {
  return (table.get(name) ?? []).filter(({ on }) => (on !== null) === isMethod);
}

/** What the editor offers. */
export const offeredFunctions = (): CelFunction[] =>
  [...table.values()].flat().filter(({ hint }) => hint !== "");
