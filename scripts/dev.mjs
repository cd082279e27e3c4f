// `npm run dev`: Next.js in development mode, with the same settings as `npm start`.
import { spawn } from "node:child_process";
import process from "node:process";
import { ensureNode } from "./nodes.mjs";
import { ensureDataDir, ensureInstalled, readAddress, readEnvFile, root } from "./prepare.mjs";

await ensureNode(ensureInstalled);
readEnvFile();
const { host, port } = readAddress();
ensureDataDir();
await ensureInstalled();
const child = spawn(
  process.execPath,
  ["node_modules/next/dist/bin/next", "dev", "-H", host, "-p", String(port)],
  {
    cwd: root,
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: "1" },
    stdio: "inherit",
  },
);
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 143)));
