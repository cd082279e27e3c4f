import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

// Installation on other platforms and machines, in separate processes.

const root = path.resolve(import.meta.dirname, "..");
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "troupe-engine-package-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The output of a script. It doesn't use the npm that started this test. */
function node(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { npm_execpath: _npm, ...own } = process.env;
  const child = spawn(process.execPath, args, { cwd: root, env: { ...own, ...env } });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text: Buffer) => (output += text.toString()));
  return new Promise((resolve) => child.once("close", () => resolve(output)));
}
const module = (text: string) => ["--input-type=module", "-e", text];

describe("Restate tests", () => {
  test("Restate tests are skipped with a reason on a platform without a binary", async () => {
    const platform = "Object.defineProperty(process, 'platform', { value: 'win32' })";
    const output = await node([
      "--import",
      `data:text/javascript,${encodeURIComponent(platform)}`,
      "scripts/test.mjs",
      "engine",
    ]);
    expect(output).toContain(`  skipped  runs on Restate: there is no Restate for win32-${process.arch}\n`);
    expect(output).toMatch(/^0 passed, 0 failed$/m);
  });

  test("Restate tests are skipped with a reason without a network", async () => {
    // A clone without installed packages.
    const clone = path.join(folder, "clone");
    const from = path.join(root, "packages", "engine-restate");
    const to = path.join(clone, "packages", "engine-restate");
    mkdirSync(to, { recursive: true });
    cpSync(path.join(root, "scripts"), path.join(clone, "scripts"), { recursive: true });
    for (const file of ["package.json", "package-lock.json", "restate-server.mjs"])
      cpSync(path.join(from, file), path.join(to, file));
    const ask = `import { whyNoEngine } from ${JSON.stringify(path.join(clone, "scripts", "engine-package.mjs"))}; console.log("skipped:", await whyNoEngine());`;
    const output = await node(module(ask), {
      npm_config_registry: "http://127.0.0.1:9/",
      npm_config_fetch_retries: "0",
      npm_config_cache: path.join(folder, "npm"),
    });
    expect(output).toMatch(
      /skipped: npm could not install packages\/engine-restate: npm error code ECONNREFUSED$/m,
    );
    expect(readdirSync(to).filter((name) => name.startsWith(".installing"))).toEqual([]);
  });
});

describe("engine identity key", () => {
  const keyOf = (name: string, env: Record<string, string> = {}) =>
    node(
      module(
        `import { workerIdentity } from ${JSON.stringify(path.join(root, "scripts", "engine-package.mjs"))}; console.log(String(await workerIdentity()));`,
      ),
      {
        TROUPE_DATA_DIR: path.join(folder, name),
        TROUPE_RESTATE_IDENTITY: "",
        TROUPE_WORKER_HOST: "",
        ...env,
      },
    );

  test("the engine identity key is created once, by the first process that uses a data folder", async () => {
    const keys = await Promise.all([keyOf("first"), keyOf("first"), keyOf("first")]);
    expect(keys).toEqual(Array.from({ length: 3 }, () => expect.stringMatching(/^publickeyv1_\w{40,}\n$/)));
    expect(new Set(keys).size).toBe(1);
    const restate = path.join(folder, "first", "restate");
    expect(readdirSync(restate)).toEqual(["identity.pem"]);
    expect(statSync(path.join(restate, "identity.pem")).mode & 0o777).toBe(0o600);
  });

  test("the engine identity key is required for a worker on another machine unless its data folder has it", async () => {
    const host = { TROUPE_WORKER_HOST: "10.0.0.7" };
    expect(await keyOf("other", host)).toBe("null\n");
    const publicKey = "publickeyv1_w7YHemBctH5Ck2nQRQ47iBBqhNHy4FV7t2Usbye2A6f";
    expect(await keyOf("other", { ...host, TROUPE_RESTATE_IDENTITY: publicKey })).toBe(`${publicKey}\n`);
    const own = await keyOf("own");
    expect(await keyOf("own", host)).toBe(own);
  });
});
