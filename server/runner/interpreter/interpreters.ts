import { execute, INTERPRETER_VERSION } from "./execute";

/**
 * Every interpreter that runs may have started with, by version. A change that would replay existing logs differently
 * needs a new version next to the old one, which stays here as long as its runs may be unfinished.
 */
export const interpreters: Readonly<Record<number, typeof execute>> = { [INTERPRETER_VERSION]: execute };

/** Why a run of that version can't continue here, as a message. */
export function unknownVersionText(version: number): string {
  const here = Object.keys(interpreters).join(", ");
  return `This run needs the version of Troupe it started with (interpreter ${version}, here ${here}). Start that version on this data folder, or cancel the run.`;
}
