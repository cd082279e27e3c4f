import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { errorCode } from "@/server/domain/base/guards";
import { isWorthReading } from "@/server/domain/base/import-files";
import { namedError } from "@/server/domain/base/named-error";
import type { JsonObject } from "@/server/domain/base/values";
import { Rejection } from "@/server/domain/errors/rejection";
import type { SentFile } from "@/server/interop/import/archive";
import { IMPORT_LIMITS } from "@/server/interop/import/files";
import { troupeWorkflow } from "@/server/interop/import/formats/troupe";
import { readSent } from "@/server/interop/import/off-thread";
import type { ImportChoices, ImportRead } from "@/server/interop/import/pipeline";
import { calledFrom } from "./called";

/** What keeps a command from using a file, line by line; its JSON also has `detail`. */
export class UnusableError extends namedError("UnusableError") {
  constructor(
    readonly lines: readonly string[],
    readonly detail: JsonObject = {},
  ) {
    super(lines.join("\n"));
  }
}

/** The files of a folder, or the one file, which may be a zip archive; "-" is standard input. Throws UnusableError. */
function readPath(given: string): SentFile[] {
  if (given === "-") return [{ path: "", text: readFileSync(0, "utf8") }];
  const whole = path.resolve(calledFrom(), given);
  try {
    const stat = statSync(whole);
    if (stat.isDirectory())
      return namesIn(whole).map((name) => ({
        path: name,
        text: readFileSync(path.join(whole, name), "utf8"),
      }));
    if (stat.size > IMPORT_LIMITS.bytes) throw new UnusableError([`${given} is larger than 10 MiB.`]);
    const name = path.basename(whole);
    if (/\.zip$/i.test(name)) return [{ path: name, base64: readFileSync(whole, "base64") }];
    return [{ path: name, text: readFileSync(whole, "utf8") }];
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    throw new UnusableError([
      code === "ENOENT" ? `File not found: ${given}.` : `Can't read ${given} (${code}).`,
    ]);
  }
}

/** Reads what is at a path. Throws UnusableError. */
export async function readImportAt(given: string, choices: ImportChoices = {}): Promise<ImportRead> {
  const sent = readPath(given);
  try {
    return await readSent(sent, choices);
  } catch (error) {
    throw error instanceof Rejection ? new UnusableError([error.message]) : error;
  }
}

/** Reads the one workflow at a path. Throws UnusableError, also if there are several, of which only one could run. */
export async function readWorkflowAt(given: string): Promise<ImportRead> {
  const read = await readImportAt(given);
  const workflows = read.found.filter(({ format }) => format === troupeWorkflow.id);
  if (workflows.length > 1) {
    const files = workflows.flatMap((workflow) => workflow.files);
    throw new UnusableError([
      `${given} contains ${workflows.length} workflows. Choose one: ${files.join(", ")}.`,
    ]);
  }
  return read;
}

/** What in a folder may be part of an import, by its path inside, in order. Links are not followed. */
function namesIn(folder: string): string[] {
  const names: string[] = [];
  let bytes = 0;
  const walk = (inside: string) => {
    for (const entry of readdirSync(path.join(folder, inside), { withFileTypes: true })) {
      const name = inside ? `${inside}/${entry.name}` : entry.name;
      if (!isWorthReading(entry.isDirectory() ? `${name}/x` : name)) continue;
      if (entry.isDirectory()) walk(name);
      else if (entry.isFile()) {
        bytes += statSync(path.join(folder, name)).size;
        names.push(name);
        if (names.length > IMPORT_LIMITS.files || bytes > IMPORT_LIMITS.bytes)
          throw new UnusableError([
            `The folder exceeds ${IMPORT_LIMITS.files} files or 10 MiB. Choose the folder of one workflow or crew.`,
          ]);
      }
    }
  };
  walk("");
  return names.sort();
}
