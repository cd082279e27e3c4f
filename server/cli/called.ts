import path from "node:path";
import process from "node:process";

/** How a person calls one of these commands: as the installed program, or from a clone. */
export function callOf(command: "run" | "explain" | "verify" | "backup" | "restore"): string {
  const { TROUPE_PROGRAM: program } = process.env;
  if (program) return `${program} ${command}`;
  if (command === "run") return "npm run workflow --";
  return command === "explain" ? "npm run workflow -- explain" : `npm run ${command} --`;
}

/** Where the person stands: npm and the start scripts change into folders of their own. */
export const calledFrom = (): string => process.env.TROUPE_CALLED_FROM ?? process.cwd();

/** The data folder; a relative name is meant from where the person stands. */
export const dataFolder = (): string => path.resolve(calledFrom(), process.env.TROUPE_DATA_DIR || "data");
