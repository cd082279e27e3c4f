// `npm run worker`: a process that executes runs for a server. Its extra packages are installed once. It accepts requests
// only from the engine with the identity key in the data folder; whichever of the two starts first creates the key.
import { spawn } from "node:child_process";
import path from "node:path";
import process from "node:process";
import { ensureEnginePackage, workerIdentity } from "./engine-package.mjs";
import { ensureNode } from "./nodes.mjs";
import { ensureInstalled, giveUp, isPacked, readEnvFile, root } from "./prepare.mjs";

await ensureNode(ensureInstalled);
readEnvFile();
if (process.argv.length > 2)
  giveUp("npm run worker has no options. Its settings are in docs/settings.md.", 2);
if (isPacked) giveUp("Workers need a clone of Troupe's repository. Run npm run worker there.");
await ensureInstalled();
const missing = await ensureEnginePackage("worker");
if (missing) giveUp(missing);
const identity = await workerIdentity();
if (identity) process.env.TROUPE_RESTATE_IDENTITY = identity;
const program = path.join(root, "packages", "engine-restate", "worker.ts");
const child = spawn(process.execPath, ["--conditions=react-server", "--import", "tsx", program], {
  // Worker threads are located relative to the root.
  cwd: root,
  stdio: "inherit",
});
// Ctrl+C reaches the child directly; we pass its exit code on.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 143)));
