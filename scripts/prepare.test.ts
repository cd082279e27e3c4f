import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

/* The installation of a clone in a separate folder, with a small program in place of npm that records its calls. */

let clone: string;
beforeEach(() => {
  clone = mkdtempSync(path.join(tmpdir(), "troupe-prepare-"));
  mkdirSync(path.join(clone, "scripts"));
  for (const script of ["prepare.mjs", "folders.mjs", "static-files.mjs"])
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

/** The npm commands that one start runs. */
function installed(): string[] {
  spawnSync(
    process.execPath,
    ["--input-type=module", "-e", `await (await import("./scripts/prepare.mjs")).ensureInstalled()`],
    { cwd: clone, env: { ...process.env, npm_execpath: path.join(clone, "npm-cli.js") } },
  );
  return readFileSync(path.join(clone, "calls"), "utf8").split(";").slice(0, -1);
}

test("packages that an interrupted installation left half unpacked are installed from the beginning", () => {
  mkdirSync(path.join(clone, "node_modules", "a"), { recursive: true });
  writeFileSync(path.join(clone, "node_modules", "a", "package.json"), `{"name":"a","version":"1.0.0"}`);
  expect(installed()).toEqual(["ci"]);
});

test("a complete installation is brought up to date without being deleted first", () => {
  mkdirSync(path.join(clone, "node_modules"));
  writeFileSync(
    path.join(clone, "node_modules", ".package-lock.json"),
    JSON.stringify({ packages: { "node_modules/a": { version: "0.9.0" } } }),
  );
  expect(installed()).toEqual(["install"]);
});
