import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { runInNewContext } from "node:vm";
import { afterEach, expect, test } from "vitest";
import { redact } from "../secrets/redact";
import {
  checkBinding,
  checkDataFolder,
  closeDataFolder,
  guardsItself,
  hardenHttpServer,
  hardenPrototypes,
  isOwnName,
  lockDataFolder,
  registerEnvironmentSecrets,
  unlockDataFolder,
} from "./boot";

const folder = () => mkdtempSync(path.join(tmpdir(), "troupe-boot-"));
afterEach(unlockDataFolder);

test("listening on a non-loopback address requires a password", () => {
  expect(checkBinding({})).toBeNull();
  expect(checkBinding({ HOST: "::1" })).toBeNull();
  expect(checkBinding({ HOST: "0.0.0.0" })).toContain("Set TROUPE_PASSWORD as well");
  expect(checkBinding({ HOST: "0.0.0.0", TROUPE_PASSWORD: "short" })).toContain("8 characters");
  expect(checkBinding({ HOST: "0.0.0.0", TROUPE_PASSWORD: "1234567" })).toContain("8 characters");
  expect(checkBinding({ HOST: "0.0.0.0", TROUPE_PASSWORD: "12345678" })).toBeNull();
  expect(checkBinding({ HOST: "127.0.0.1", TROUPE_PASSWORD: "short" })).toBeNull();
});

test("an unusable data folder is explained", () => {
  const dir = folder();
  expect(checkDataFolder(path.join(dir, "new", "data"))).toBeNull();
  expect(readdirSync(path.join(dir, "new", "data"))).toEqual([]);
  expect(statSync(path.join(dir, "new", "data")).mode & 0o777).toBe(0o700);
  writeFileSync(path.join(dir, "file"), "");
  expect(checkDataFolder(path.join(dir, "file", "inside"))).toContain("but it isn't a folder.");
  expect(checkDataFolder(path.join(dir, "file"))).toMatch(/but it isn't a folder\. .*set TROUPE_DATA_DIR/);
  // Root may write anywhere, whatever the permissions say.
  if (process.getuid?.() === 0) return;
  chmodSync(dir, 0o500);
  expect(checkDataFolder(dir)).toContain("but it isn't writable");
});

test.skipIf(process.platform === "win32")(
  "the data folder and its lock files are inaccessible to other users",
  () => {
    const modeOf = (...at: string[]) => statSync(path.join(...at)).mode & 0o777;
    const ours = folder();
    chmodSync(ours, 0o755);
    for (const name of ["troupe.db", "troupe.db-wal", "troupe.db.before-1.bak", "secret.key", "server.lock"])
      writeFileSync(path.join(ours, name), "");
    expect(closeDataFolder(ours)).toBeNull();
    expect(modeOf(ours)).toBe(0o700);
    expect(lockDataFolder(ours)).toBeNull();
    expect(["server.lock", "server.lock-journal", "server.json"].map((name) => modeOf(ours, name))).toEqual([
      0o600, 0o600, 0o600,
    ]);

    const shared = folder();
    chmodSync(shared, 0o755);
    writeFileSync(path.join(shared, "holiday.jpg"), "");
    expect(closeDataFolder(shared)).toContain(`chmod 700 ${shared}`);
    expect(modeOf(shared)).toBe(0o755);

    const everybodys = folder();
    chmodSync(everybodys, 0o1777);
    expect(closeDataFolder(everybodys)).toContain("can list");
    expect(modeOf(everybodys)).toBe(0o777);
  },
);

test("a data folder allows one server; the lock of a killed server is free at once", async () => {
  const dir = folder();
  const holder = spawn(
    process.execPath,
    [
      "--input-type=module",
      "-e",
      `import Database from "better-sqlite3"; const d = new Database(process.argv[1], { timeout: 0 }); d.exec("BEGIN EXCLUSIVE"); console.log("held"); setInterval(() => {}, 1e6);`,
      path.join(dir, "server.lock"),
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  await once(holder.stdout, "data");
  writeFileSync(path.join(dir, "server.json"), JSON.stringify({ pid: holder.pid, port: "3000" }));
  expect(lockDataFolder(dir)).toBe(
    `Another Troupe server is using ${dir} (process ${holder.pid}, http://127.0.0.1:3000). Stop it first, or set TROUPE_DATA_DIR to another folder.`,
  );
  holder.kill("SIGKILL");
  await once(holder, "exit");
  expect(lockDataFolder(dir)).toBeNull();
  expect(lockDataFolder(dir), "asking again is fine").toBeNull();
});

test.each([
  ["nothing", undefined],
  ["no JSON", "{"],
  ["no object", "3000"],
  ["no process id", '{"pid":"7","port":"3000"}'],
])("a lock whose note contains %s is reported without the process", (_what, note) => {
  const dir = folder();
  expect(lockDataFolder(dir)).toBeNull();
  const held = globalThis.__troupeLock;
  // As another process would find it.
  globalThis.__troupeLock = undefined;
  if (note === undefined) rmSync(path.join(dir, "server.json"));
  else writeFileSync(path.join(dir, "server.json"), note);
  expect(lockDataFolder(dir)).toBe(
    `Another Troupe server is using ${dir}. Stop it first, or set TROUPE_DATA_DIR to another folder.`,
  );
  globalThis.__troupeLock = held;
});

test("the lock records the process and port of its server and is released on shutdown", () => {
  const dir = folder();
  expect(lockDataFolder(dir, "3777")).toBeNull();
  expect(JSON.parse(readFileSync(path.join(dir, "server.json"), "utf8"))).toEqual({
    pid: process.pid,
    port: "3777",
  });
  unlockDataFolder();
  unlockDataFolder();
  expect(lockDataFolder(dir)).toBeNull();
});

test("files that Troupe keeps in its data folder are recognized by name", () => {
  const ours = [
    ...["troupe.db", "troupe.db-wal", "troupe.db-shm", "troupe.db-journal", "troupe.db.restoring"],
    ...["troupe.db.before-12.bak", "before-restore-1700000000000", "secret.key", ".env", "at-work"],
    ...["server.json", "server.lock", "server.lock-journal", "standing-still", "roles", ".DS_Store"],
  ];
  const others = ["my-troupe.db", "troupe.db.bak", "troupe.db.before-.bak", "roles.txt", "a.env", ""];
  expect([ours.filter((name) => !isOwnName(name)), others.filter(isOwnName)]).toEqual([[], []]);
});

test("shared prototypes accept no new properties", () => {
  // In a realm of its own: it cannot be taken back.
  const tried = `
    (${hardenPrototypes.toString()})();
    [Object, Array, Function].map((shared) => {
      try { "use strict"; Object.defineProperty(shared.prototype, "polluted", { value: 1 }); return "took it"; }
      catch { return "refused"; }
    }).join()`;
  expect(runInNewContext(tried)).toBe("refused,refused,refused");
});

test("environment variables that are keys are redacted from logs, others aren't", () => {
  registerEnvironmentSecrets({
    MY_API_KEY: " kept-secret-1 ",
    MY_TOKEN: "kept-secret-2",
    MY_PASSWORD: "kept-secret-3",
    MY_SECRET: "kept-secret-4",
    KEYRING: "told-to-all-1",
    MY_URL: "told-to-all-2",
    EMPTY_KEY: "",
    NO_KEY: undefined,
  });
  expect(redact("kept-secret-1 kept-secret-2 kept-secret-3 kept-secret-4 told-to-all-1 told-to-all-2")).toBe(
    "[hidden] [hidden] [hidden] [hidden] told-to-all-1 told-to-all-2",
  );
});

test("static files aren't served under a foreign host name, and slow requests time out", async () => {
  hardenHttpServer();
  hardenHttpServer();
  const server = createServer((request, response) => response.end(request.url));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const served = async (host: string) => {
    const [response] = await once(
      get({ port, host: "127.0.0.1", path: "/_next/static/a.js", headers: { host } }),
      "response",
    );
    return Buffer.concat(await response.toArray()).toString();
  };
  expect(await served("127.0.0.1:3000")).toBe("/_next/static/a.js");
  expect(await served("evil.example")).toBe("/api/v1/health");
  expect(server.headersTimeout).toBe(10_000);
  expect(server.requestTimeout).toBe(30_000);
  expect(server.maxConnections).toBe(2_000);
  // The workers' port looks by itself at whoever asks, by whatever name.
  guardsItself(server);
  expect(await served("evil.example")).toBe("/_next/static/a.js");
  server.close();
});
