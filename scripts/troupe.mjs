#!/usr/bin/env node
// `troupe`, where Troupe is installed as a package; from a clone, what `npm run workflow`, `verify`, `backup` and `restore` call.
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

/** The commands that are programs of their own, and their sources. */
const PROGRAMS = { run: "workflow", verify: "verify-main", backup: "backup-main", restore: "backup-main" };

const HELP = `Troupe: draw workflows of role-based AI agents, watch them run live on the drawing, and trust the result.

  troupe [start] [--link]       serves on http://127.0.0.1:3000; --link lets in only who has the link that it prints
  troupe run FILE               runs a workflow file in the terminal; troupe run --help says more
  troupe run import PATH        says what files of another framework would bring
  troupe run test FILE          runs the tests that stand in a workflow's file
  troupe verify [FOLDER]        whether the logs of all runs are as they were written
  troupe backup FILE            writes all data into one file, also while Troupe runs [--with-key] [--force]
  troupe restore FILE           brings them back [--force]
  troupe --version

Data lie in ${dataFolder()}, or where TROUPE_DATA_DIR says.
Settings (PORT, TROUPE_PASSWORD, ...) come from the environment, or from a file named .env in that folder.
`;

await ensureNode();
const [first = "start", ...rest] = process.argv.slice(2);
if (["--help", "-h", "help"].includes(first)) process.stdout.write(HELP);
else if (["--version", "-v"].includes(first)) {
  const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  process.stdout.write(`${version}\n`);
} else if (first === "start" || first === "--link") {
  process.argv.splice(2, Number.POSITIVE_INFINITY, ...(first === "start" ? rest : [first, ...rest]));
  await import("./start.mjs");
} else if (Object.hasOwn(PROGRAMS, first)) await run(first, rest);
else giveUp(`There is no command ${first}. troupe --help lists them.`, 2);

/** Runs one of the programs with this one's terminal, and leaves with its exit code. */
async function run(command, args) {
  readEnvFile();
  // Beside a running server the packages must stay as they are; only what runs workflows may change them.
  if (command === "run") await ensureInstalled();
  else if (!isPacked && !existsSync(path.join(root, "node_modules", "tsx")))
    giveUp("Nothing is installed here yet. Run npm start once.");
  const program = PROGRAMS[command];
  // From a clone the sources run as they are, by tsx; the condition is the one under which "server-only" may be imported.
  const node = isPacked
    ? [path.join(root, "cli", `${program}.mjs`)]
    : ["--conditions=react-server", "--import", "tsx", path.join(root, "server", "cli", `${program}.ts`)];
  const named = program === "backup-main" ? [command] : [];
  const child = spawn(process.execPath, [...node, ...named, ...args], {
    // Migrations and threads are found from here.
    cwd: root,
    stdio: "inherit",
    env: {
      ...process.env,
      TROUPE_CALLED_FROM: calledFrom,
      TROUPE_DATA_DIR: dataFolder(),
      ...(isPacked ? { TROUPE_PROGRAM: startCommand } : {}),
    },
  });
  // Ctrl+C reaches the child by itself; it leaves with a code that we pass on.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 143)));
}
