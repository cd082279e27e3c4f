// `npm start`: one command for people. Installs and builds if that is needed, then keeps a process running that serves.
import process from "node:process";
import { fileURLToPath } from "node:url";

const startedAt = Date.now();
const {
  checkNode,
  ensureBuilt,
  ensureDataDir,
  ensureInstalled,
  giveUp,
  isPacked,
  readAddress,
  readEnvFile,
  startCommand,
} = await import("./prepare.mjs");

checkNode();
readEnvFile();
if (isPacked) process.env.TROUPE_PROGRAM = startCommand;
const [only, ...more] = process.argv.slice(2);
if ((only !== undefined && !["--build-only", "--serve-only", "--link"].includes(only)) || more.length > 0)
  giveUp(
    `${startCommand} takes one option: ${isPacked ? "troupe" : "npm start --"} --link lets in only who has the one-time link that it prints.\nEverything else is a setting (docs/settings.md), for example: PORT=3001 ${startCommand}`,
    2,
  );
if (only === "--link") process.env.TROUPE_START_LINK = "1";
if (only === "--build-only") {
  ensureInstalled();
  await ensureBuilt();
} else {
  const address = readAddress();
  const dataDir = ensureDataDir();
  // `--serve-only` trusts that both are done, by the process that supervises this one or by the tests.
  if (only === "--serve-only") {
    const { serve } = await import("./serve.mjs");
    await serve({ ...address, dataDir, startedAt: Number(process.env.TROUPE_STARTED_AT) || startedAt });
  } else {
    ensureInstalled();
    const delayed = !isPacked && (await ensureBuilt()).built;
    const { supervise } = await import("./supervise.mjs");
    const env = { TROUPE_STARTED_AT: String(delayed ? Date.now() : startedAt) };
    supervise([fileURLToPath(import.meta.url), "--serve-only"], { env });
  }
}
