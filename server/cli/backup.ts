import { realpathSync, rmSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import packageJson from "@/package.json";
import { checkDataFolder, isOwnName, lockDataFolder, unlockDataFolder } from "@/server/access/boot";
import { errorMessage } from "@/server/domain/base/guards";
import { BackupError, inTheWay, openBackup, placeBackup, writeBackup } from "@/server/store/backup";
import { callOf } from "./called";
import { printableLine } from "./output/printable";

/** Where a command works, and its output. */
export interface Surroundings {
  dataDir: string;
  /** File names are relative to this folder. */
  calledFrom: string;
  print: (line: string) => void;
}

const DONE = 0;
const FAILED = 1;
const UNUSABLE = 2;

/**
 * `backup FILE [--with-key] [--force]`: one file with everything that a data folder needs. Returns the exit code: 0
 * made, 1 not made, 2 unusable arguments.
 */
export function backup(argv: readonly string[], at: Surroundings): Promise<number> {
  return asCommand({ name: "backup", options: ["with-key", "force"] }, argv, at, async (file, options) => {
    if (isSameFolder(path.dirname(file), at.dataDir) && isOwnName(path.basename(file)))
      throw new BackupError(`${file} is reserved for Troupe's own data. Choose another name.`);
    const made = await writeBackup(at.dataDir, file, {
      withKey: options.has("with-key"),
      force: options.has("force"),
      version: packageJson.version,
    });
    at.print(`${file} contains ${contents(made)}: ${size(made.bytes)}.`);
    at.print(
      made.hasKey
        ? "It contains the key, so anyone with this file can read the stored secrets. Keep it safe."
        : "It doesn't contain the key for stored secrets. Back up secret.key or TROUPE_SECRET_KEY separately, or use --with-key.",
    );
  });
}

/**
 * `restore FILE [--force]`: a data folder from a backup. Returns the exit code: 0 restored, 1 rejected, with the data
 * folder unchanged, 2 unusable arguments.
 */
export function restore(argv: readonly string[], at: Surroundings): Promise<number> {
  return asCommand({ name: "restore", options: ["force"] }, argv, at, async (file, options) => {
    const { dataDir } = at;
    const refusal = checkDataFolder(dataDir) ?? lockDataFolder(dataDir);
    if (refusal) throw new BackupError(refusal);
    const unpacked = path.join(dataDir, "troupe.db.restoring");
    rmSync(unpacked, { force: true });
    try {
      const opened = await openBackup(file, unpacked);
      if (!options.has("force") && inTheWay(dataDir, opened.hasKey).length > 0)
        throw new BackupError(
          `${dataDir} already has data. Choose an empty folder with TROUPE_DATA_DIR, or add --force to move the data aside.`,
        );
      const aside = placeBackup(dataDir, unpacked, opened);
      const { madeAt, version, unfinished } = opened;
      at.print(
        `Restored ${dataDir} as of ${new Date(madeAt).toISOString()} (Troupe ${version}), with ${contents(opened)}.`,
      );
      if (aside) at.print(`The previous data is in ${aside}. Delete that folder when you no longer need it.`);
      if (unfinished > 0)
        at.print(
          `${unfinished === 1 ? "1 run was unfinished at that time. It resumes" : `${unfinished} runs were unfinished at that time. They resume`} from that point when Troupe starts, and can repeat work done since.`,
        );
      if (!opened.hasKey)
        at.print(
          "Stored secrets need the key that encrypted them: secret.key in this folder, or TROUPE_SECRET_KEY.",
        );
      at.print(
        `Everyone has to sign in again. To verify the logs, run: ${callOf("verify").replace(/ --$/, "")}`,
      );
    } finally {
      rmSync(unpacked, { force: true });
      unlockDataFolder();
    }
  });
}

/** Reads the arguments of a command about one file, executes it and prints its errors. */
async function asCommand(
  { name, options }: { name: "backup" | "restore"; options: readonly string[] },
  argv: readonly string[],
  { calledFrom, print }: Surroundings,
  work: (file: string, options: ReadonlySet<string>) => Promise<void>,
): Promise<number> {
  let file: string;
  let given: ReadonlySet<string>;
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: Object.fromEntries(options.map((option) => [option, { type: "boolean" as const }])),
      allowPositionals: true,
    });
    const [only, ...more] = positionals;
    if (only === undefined || more.length > 0) throw new Error("Pass exactly one file.");
    file = path.resolve(calledFrom, only);
    given = new Set(Object.keys(values));
  } catch (error) {
    const usage = options.map((option) => `[--${option}]`).join(" ");
    print(`${errorMessage(error)}\nUsage: ${callOf(name)} FILE ${usage}`);
    return UNUSABLE;
  }
  try {
    await work(file, given);
    return DONE;
  } catch (error) {
    if (!(error instanceof BackupError)) throw error;
    print(printableLine(error.message));
    return FAILED;
  }
}

function isSameFolder(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}

function contents({ hasKey, roles }: { hasKey: boolean; roles: number }): string {
  const parts = ["the database"];
  if (roles > 0) parts.push(roles === 1 ? "1 role file" : `${roles} role files`);
  if (hasKey) parts.push("the key");
  return parts.length === 1 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

const size = (bytes: number) =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
