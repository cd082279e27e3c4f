// `npm start`: one command for people. Installs and builds if that is needed, then serves.
import process from "node:process";

const startedAt = Date.now();
const { checkNode, ensureBuilt, ensureDataDir, ensureInstalled, readAddress, readEnvFile } = await import(
  "./prepare.mjs"
);

checkNode();
readEnvFile();
const only = process.argv[2];
if (only === "--build-only") {
  ensureInstalled();
  await ensureBuilt();
} else {
  const address = readAddress();
  const dataDir = ensureDataDir();
  // `--serve-only` trusts that both are done: the tests have just built, and measure from here.
  let delayed = false;
  if (only !== "--serve-only") {
    ensureInstalled();
    delayed = (await ensureBuilt()).built;
  }
  const { serve } = await import("./serve.mjs");
  await serve({ ...address, dataDir, startedAt: delayed ? Date.now() : startedAt });
}
