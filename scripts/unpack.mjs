#!/usr/bin/env node
// The program of the npm package. The package holds the application as one archive, because npm takes ten seconds for
// thousands of files; the first start unpacks it beside itself, or into the user's cache where the package can't be changed.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { userCacheFolder } from "./folders.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const archive = readdirSync(here).find((name) => name.endsWith(".tar.gz"));
// Its name holds the build, so that the cache never serves another one.
const app = path.basename(archive, ".tar.gz");
const folders = [here, path.join(userCacheFolder(), "apps")];
const home = folders.find((folder) => existsSync(path.join(folder, app))) ?? unpack();
await import(pathToFileURL(path.join(home, app, "scripts", "troupe.mjs")).href);

/** Unpacks the archive into the first of the folders that can be written, and returns that folder. */
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
      if (error) throw new Error(`it needs the program tar (${error.code})`);
      if (status !== 0) throw new Error(stderr.toString().split("\n")[0]);
      // In one step: whoever finds the folder finds all of it.
      renameSync(path.join(scratch, app), path.join(folder, app));
      return folder;
    } catch (error) {
      // Another start was faster.
      if (existsSync(path.join(folder, app))) return folder;
      why = error.message;
    } finally {
      if (scratch) rmSync(scratch, { recursive: true, force: true });
    }
  }
  console.error(`\n  Troupe could not unpack itself: ${why}\n`);
  process.exit(1);
}
