#!/usr/bin/env node
// The `troupe` command of an installed package. From a clone, `npm run workflow`, `verify`, `backup` and `restore` call it.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { ensureNode } from "./nodes.mjs";
import {
  calledFrom,
  dataFolder,
  ensureInstalled,
  giveUp,
  isPacked,
  readEnvFile,
  root,
  startCommand,
} from "./prepare.mjs";

/** Commands that run in a separate program, and its source file in server/cli. */
const PROGRAMS = {
  run: "workflow",
  explain: "workflow",
  deploy: "workflow",
  verify: "verify-main",
  backup: "backup-main",
  restore: "backup-main",
};
/** Commands of programs that have several. */
const NAMED = new Set(["explain", "deploy", "backup", "restore"]);

const HELP = `Troupe: workflows of AI agents on a canvas.

  troupe [start] [--link]       Start the server at http://127.0.0.1:3000. --link requires the one-time link it prints.
  troupe run FILE               Run a workflow file in the terminal. See troupe run --help.
  troupe run import PATH        Preview what files of another framework would import.
  troupe run test FILE          Run the tests in a workflow file.
  troupe deploy FILE --to URL   Publish a workflow file on another Troupe. See troupe deploy --help.
  troupe explain CODE           Explain an error code: cause and fix.
  troupe verify [FOLDER]        Check that the logs of all runs are unchanged.
  troupe backup FILE            Write all data to one file, also while Troupe runs. [--with-key] [--force]
  troupe restore FILE           Restore a backup. [--force]
  troupe --version              Print the version.

Data folder: ${dataFolder()} (set TROUPE_DATA_DIR to change it).
Settings such as PORT and TROUPE_PASSWORD come from the environment, or from .env in ${isPacked ? "the data folder" : root}.
`;

await ensureNode();
const [first = "start", ...rest] = process.argv.slice(2);
const isHelp = (word) => word === "--help" || word === "-h";
// These commands have their own help.
const hasOwnHelp = ["run", "explain", "deploy"].includes(first);
if (first === "help" || isHelp(first) || (rest.some(isHelp) && !hasOwnHelp)) process.stdout.write(HELP);
else if (["--version", "-v"].includes(first)) {
  const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  process.stdout.write(`${version}\n`);
} else if (first === "start" || first === "--link") {
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...(first === "start" ? rest : [first, ...rest]));
  await import("./start.mjs");
} else if (Object.hasOwn(PROGRAMS, first)) await run(first, rest);
else giveUp(`Unknown command "${first}". See troupe --help.`, 2);

/** Runs a command's program in this terminal, and exits with its exit code. */
async function run(command, args) {
  readEnvFile();
  // Only `run` may install packages: the other commands must not change them under a running server.
  if (command === "run") await ensureInstalled();
  else if (!isPacked && !existsSync(path.join(root, "node_modules", "tsx")))
    giveUp("Packages are missing. Run npm start once.");
  const program = PROGRAMS[command];
  // From a clone, tsx runs the sources. The condition allows imports of "server-only".
  const node = isPacked
    ? [path.join(root, "cli", `${program}.mjs`)]
    : ["--conditions=react-server", "--import", "tsx", path.join(root, "server", "cli", `${program}.ts`)];
  const subcommand = NAMED.has(command) ? [command] : [];
  const child = spawn(process.execPath, [...node, ...subcommand, ...args], {
    // Migrations and worker threads are located relative to the root.
    cwd: root,
    stdio: "inherit",
    env: {
      ...process.env,
      TROUPE_CALLED_FROM: calledFrom,
      TROUPE_DATA_DIR: dataFolder(),
      ...(isPacked ? { TROUPE_PROGRAM: startCommand } : {}),
    },
  });
  // Ctrl+C reaches the child directly; we pass its exit code on.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 143)));
}
