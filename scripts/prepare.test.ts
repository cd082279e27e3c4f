import { spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

/* Installs a clone in a temporary folder, with a small program in place of npm that records its calls. */

let clone: string;
beforeEach(() => {
  clone = mkdtempSync(path.join(tmpdir(), "troupe-prepare-"));
  mkdirSync(path.join(clone, "scripts"));
  for (const script of ["prepare.mjs", "folders.mjs", "lock.mjs", "static-files.mjs"])
    copyFileSync(path.join(import.meta.dirname, script), path.join(clone, "scripts", script));
  writeFileSync(
    path.join(clone, "package-lock.json"),
    JSON.stringify({ packages: { "node_modules/a": { version: "1.0.0" } } }),
  );
  writeFileSync(
    path.join(clone, "npm-cli.js"),
    `require("fs").appendFileSync(${JSON.stringify(path.join(clone, "calls"))}, process.argv[2] + ";")`,
  );
});
afterEach(() => rmSync(clone, { recursive: true, force: true }));

/** Starts one installation; resolves with its exit code. */
function install(): Promise<number | null> {
  const child = spawn(
    process.execPath,
    ["--input-type=module", "-e", `await (await import("./scripts/prepare.mjs")).ensureInstalled()`],
    { cwd: clone, env: { ...process.env, npm_execpath: path.join(clone, "npm-cli.js") }, stdio: "ignore" },
  );
  return new Promise((resolve) => child.once("close", resolve));
}

/** The npm commands that these installations ran. */
async function installed(times = 1): Promise<string[]> {
  await Promise.all(Array.from({ length: times }, install));
  return readFileSync(path.join(clone, "calls"), "utf8").split(";").slice(0, -1);
}

test("setup reinstalls everything after an interrupted installation", async () => {
  mkdirSync(path.join(clone, "node_modules", "a"), { recursive: true });
  writeFileSync(path.join(clone, "node_modules", "a", "package.json"), `{"name":"a","version":"1.0.0"}`);
  expect(await installed()).toEqual(["ci"]);
});

test("setup updates a complete installation without deleting it first", async () => {
  mkdirSync(path.join(clone, "node_modules"));
  writeFileSync(
    path.join(clone, "node_modules", ".package-lock.json"),
    JSON.stringify({ packages: { "node_modules/a": { version: "0.9.0" } } }),
  );
  expect(await installed()).toEqual(["install"]);
});

/** Replaces the recording npm with a slow one that writes npm's own lock file. */
function slowNpm() {
  const lock = path.join(clone, "node_modules", ".package-lock.json");
  writeFileSync(
    path.join(clone, "npm-cli.js"),
    `const fs = require("fs");
     fs.appendFileSync(${JSON.stringify(path.join(clone, "calls"))}, process.argv[2] + ";");
     setTimeout(() => {
       fs.mkdirSync("node_modules", { recursive: true });
       fs.copyFileSync("package-lock.json", ${JSON.stringify(lock)});
     }, 500);`,
  );
}

test("concurrent starts install once and release the lock", async () => {
  slowNpm();
  expect(await installed(3)).toEqual(["ci"]);
  expect(existsSync(path.join(clone, ".starting"))).toBe(false);
});

test("setup takes over the lock of a killed start", async () => {
  const gone = spawn(process.execPath, ["-e", ""]);
  await new Promise((resolve) => gone.once("close", resolve));
  writeFileSync(path.join(clone, ".starting"), String(gone.pid));
  slowNpm();
  expect(await installed()).toEqual(["ci"]);
});
