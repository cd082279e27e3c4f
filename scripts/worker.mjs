// `npm run worker`: a process that carries out runs for a server. What it needs beside Troupe itself is installed once. The engine of
// the same data folder is known by the key that lies there, whichever of the two is started first; nobody else is let in.
import { spawn } from "node:child_process";
import path from "node:path";
import process from "node:process";
import { ensureEnginePackage, workerIdentity } from "./engine-package.mjs";
import { ensureNode } from "./nodes.mjs";
import { ensureInstalled, giveUp, isPacked, readEnvFile, root } from "./prepare.mjs";

await ensureNode(ensureInstalled);
readEnvFile();
if (process.argv.length > 2)
  giveUp("npm run worker takes no options. docs/settings.md lists its settings.", 2);
if (isPacked) giveUp("Workers run from a clone of Troupe's repository: npm run worker.");
await ensureInstalled();
const missing = await ensureEnginePackage("worker");
if (missing) giveUp(missing);
const identity = await workerIdentity();
if (identity) process.env.TROUPE_RESTATE_IDENTITY = identity;
const program = path.join(root, "packages", "engine-restate", "worker.ts");
const child = spawn(process.execPath, ["--conditions=react-server", "--import", "tsx", program], {
  // Threads are found from here.
  cwd: root,
  stdio: "inherit",
});
// Ctrl+C reaches the child by itself; it leaves with a code that we pass on.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 143)));
