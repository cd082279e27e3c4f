#!/usr/bin/env node
// The executable of the npm package, which contains the application as one archive, because npm needs ten seconds for
// thousands of files. The first start unpacks it next to this file, or into the user's cache if the package is read-only.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { userCacheFolder } from "./folders.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const archive = readdirSync(here).find((name) => name.endsWith(".tar.gz"));
// Its name contains the build id, so the cache never serves another build.
const app = path.basename(archive, ".tar.gz");
const folders = [here, path.join(userCacheFolder(), "apps")];
const home = folders.find((folder) => existsSync(path.join(folder, app))) ?? unpack();
await import(pathToFileURL(path.join(home, app, "scripts", "troupe.mjs")).href);

/** Unpacks the archive into the first writable folder, and returns it. */
function unpack() {
  let why = "";
  for (const folder of folders) {
    let scratch;
    try {
      mkdirSync(folder, { recursive: true });
      scratch = mkdtempSync(path.join(folder, "unpacking-"));
      const { error, stderr, status } = spawnSync("tar", ["-xzof", path.join(here, archive)], {
        cwd: scratch,
      });
      if (error) throw new Error(`tar is not available (${error.code})`);
      if (status !== 0) throw new Error(stderr.toString().split("\n")[0]);
      // Atomic: a folder that exists is complete.
      renameSync(path.join(scratch, app), path.join(folder, app));
      return folder;
    } catch (error) {
      // Another start has unpacked it meanwhile.
      if (existsSync(path.join(folder, app))) return folder;
      why = error.message;
    } finally {
      if (scratch) rmSync(scratch, { recursive: true, force: true });
    }
  }
  console.error(`\n  Troupe couldn't unpack itself: ${why}\n`);
  process.exit(1);
}
