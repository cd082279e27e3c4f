// `npm run bench [-- PART]`: runs the benchmarks in bench/ and prints their figures next to the targets.
import process from "node:process";
import { ensureNode } from "./nodes.mjs";
import { ensureBuilt, ensureInstalled, root, runNode } from "./prepare.mjs";

await ensureNode();
await ensureInstalled({ tools: true });
const parts = process.argv.slice(2);
const needs = (part) => parts.length === 0 || parts.includes(part);
let env = { NODE_ENV: "production" };
if (needs("start") || needs("browser")) await ensureBuilt();
if (needs("browser")) {
  const { ensureBrowser } = await import("./browser.mjs");
  env = { ...env, ...(ensureBrowser() ?? {}) };
}
const { code } = await runNode(
  ["--conditions=react-server", "--expose-gc", "--import", "tsx", `${root}/bench/main.ts`, ...parts],
  { env },
);
process.exitCode = code;
