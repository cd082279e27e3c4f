import { execute, INTERPRETER_VERSION } from "./execute";

/**
 * Every interpreter that runs may have begun with, by its version. One whose log would replay differently under new code
 * gets a new version beside the old, which stays here as long as such runs may be unfinished.
 */
export const interpreters: Readonly<Record<number, typeof execute>> = { [INTERPRETER_VERSION]: execute };

/** Why a run of that version cannot go on here, in words. */
export function unknownVersionText(version: number): string {
  const here = Object.keys(interpreters).join(", ");
  return `This run needs the version of Troupe it began with (interpreter ${version}, here ${here}). Start that version on this data folder, or cancel the run.`;
}
