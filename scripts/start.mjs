// `npm start`: installs and builds if needed, then supervises the server process.
import module from "node:module";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { userCacheFolder } from "./folders.mjs";

const startedAt = Number(process.env.TROUPE_STARTED_AT) || Date.now();
process.env.TROUPE_STARTED_AT = String(startedAt);
// Compiling JavaScript takes a third of a start. Without a writable cache, every start compiles.
module.enableCompileCache?.(path.join(userCacheFolder(), "compiled"));
const { ensureNode } = await import("./nodes.mjs");
const {
  ensureBuilt,
  ensureDataDir,
  ensureInstalled,
  giveUp,
  isPacked,
  readAddress,
  readEnvFile,
  startCommand,
} = await import("./prepare.mjs");

const [only, ...more] = process.argv.slice(2);
if ((only !== undefined && !["--build-only", "--serve-only", "--link"].includes(only)) || more.length > 0)
  giveUp(
    `The only option is --link (${isPacked ? "troupe" : "npm start --"} --link), which requires the one-time link it prints.\nEverything else is a setting; see docs/settings.md. Example: PORT=3001 ${startCommand}`,
    2,
  );
await ensureNode(ensureInstalled);
// A restarted server measures its own startup time.
delete process.env.TROUPE_STARTED_AT;
readEnvFile();
if (isPacked) process.env.TROUPE_PROGRAM = startCommand;
if (only === "--link") process.env.TROUPE_START_LINK = "1";
if (only === "--build-only") {
  await ensureInstalled();
  await ensureBuilt();
} else {
  const address = readAddress();
  const dataDir = ensureDataDir();
  // With --serve-only, the supervisor or a test has already installed and built.
  if (only === "--serve-only") {
    const { serve } = await import("./serve.mjs");
    await serve({ ...address, dataDir, startedAt });
  } else {
    await ensureInstalled();
    await ensureBuilt();
    const { supervise } = await import("./supervise.mjs");
    // Compiling allocates memory in blocks of 32 KiB, which glibc keeps unless they are mapped: 40 MB in an idle server.
    process.env.MALLOC_MMAP_THRESHOLD_ ??= "32768";
    // The young generation grows to 48 MB during startup, and V8 does not return it.
    supervise(["--max-semi-space-size=2", fileURLToPath(import.meta.url), "--serve-only"], {
      env: { TROUPE_STARTED_AT: String(startedAt) },
    });
  }
}
