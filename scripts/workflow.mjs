// `npm run workflow -- FILE.json --input '{...}'`: runs a workflow file in the terminal, without server or browser.
import { spawn } from "node:child_process";
import path from "node:path";
import process from "node:process";
import { checkNode, ensureInstalled, readEnvFile, root } from "./prepare.mjs";

checkNode();
readEnvFile();
ensureInstalled();
// Through tsx, the sources run as they are; the condition is the one under which "server-only" may be imported.
const child = spawn(
  process.execPath,
  [
    "--conditions=react-server",
    "--import",
    "tsx",
    path.join(root, "server/cli/workflow.ts"),
    ...process.argv.slice(2),
  ],
  // npm changes into its own folder: file names are meant from where the person stands.
  {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, TROUPE_CALLED_FROM: process.env.INIT_CWD ?? process.cwd() },
  },
);
// Ctrl+C reaches the child by itself; it cancels the run and leaves with a code that we pass on.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 143)));
