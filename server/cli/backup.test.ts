import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { gunzipSync, gzipSync } from "node:zlib";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Db, openDb } from "@/db/open";
import { draw } from "@/server/domain/testing/drawing";
import { newStage } from "@/server/runner/testing";
import { newSealer } from "@/server/secrets/sealer";
import { backup, restore } from "./backup";
import { verify } from "./verify";

let home: string;
let open: Db | null;
beforeEach(() => {
  home = mkdtempSync(path.join(os.tmpdir(), "troupe-backup-"));
  open = null;
});
afterEach(() => {
  open?.$client.close();
  rmSync(home, { recursive: true, force: true });
});

const inHome = (...names: string[]) => path.join(home, ...names);
const fileMode = (file: string) => statSync(file).mode & 0o777;

/** A data folder with one run that ended, a role as a file, a key, and somebody signed in; the database stays open. */
async function dataFolder(name = "data") {
  open = openDb(inHome(name, "troupe.db"));
  const { id } = await newStage({ db: open }).run(draw("start > a > end"));
  mkdirSync(inHome(name, "roles"));
  writeFileSync(inHome(name, "roles", "scribe.md"), "---\nname: Scribe\n---\nWrites.\n");
  newSealer(inHome(name), {});
  open.$client.exec("insert into sessions values ('hash', 1, 1)");
  return id;
}

async function call(command: typeof backup, args: string[], dataDir = "data") {
  const lines: string[] = [];
  const code = await command(args, {
    dataDir: inHome(dataDir),
    calledFrom: home,
    print: (line) => lines.push(line),
  });
  return { code, text: lines.join("\n") };
}

const runsIn = (folder: string) => {
  const client = new Database(inHome(folder, "troupe.db"), { readonly: true });
  try {
    return client.prepare("select id from runs order by id").pluck().all();
  } finally {
    client.close();
  }
};

test("a backup restores runs and roles into an empty folder, and all sessions end", async () => {
  const id = await dataFolder();
  expect(await call(backup, ["one.backup"])).toMatchObject({
    code: 0,
    text: expect.stringContaining("the database and 1 role file"),
  });
  const back = await call(restore, ["one.backup"], "other");
  expect(back.code).toBe(0);
  expect(back.text).toContain("Stored secrets need the key that encrypted them");
  expect(readdirSync(inHome("other", "roles"))).toEqual(["scribe.md"]);
  expect(existsSync(inHome("other", "secret.key"))).toBe(false);
  expect(runsIn("other")).toEqual([id]);
  expect(verify(["other"], home, () => {})).toBe(0);
  const restored = openDb(inHome("other", "troupe.db"));
  expect(restored.$client.prepare("select count(*) from sessions").pluck().get()).toBe(0);
  expect(restored.$client.pragma("auto_vacuum", { simple: true })).toBe(2);
  restored.$client.close();
  expect(readdirSync(home).sort()).toEqual(["data", "one.backup", "other"]);
});

test("a backup contains the key only on request, and it then decrypts the same secrets", async () => {
  await dataFolder();
  const sealed = newSealer(inHome("data"), {}).seal("the secret", "here");
  const key = readFileSync(inHome("data", "secret.key"));
  await call(backup, ["without.backup"]);
  expect(gunzipSync(readFileSync(inHome("without.backup"))).includes(key)).toBe(false);
  expect((await call(backup, ["with.backup", "--with-key"])).text).toContain(
    "It contains the key, so anyone with this file can read the stored secrets. Keep it safe.",
  );
  await call(restore, ["with.backup"], "other");
  expect(newSealer(inHome("other"), {}).open(sealed, "here")).toBe("the secret");
  // Not in what the database no longer uses either.
  expect(readFileSync(inHome("other", "troupe.db")).includes(key)).toBe(false);
});

test.skipIf(process.platform === "win32")(
  "a backup and the files restored from it can't be read by others",
  async () => {
    await dataFolder();
    await call(backup, ["with.backup", "--with-key"]);
    await call(restore, ["with.backup"], "other");
    const made = ["with.backup", "other/troupe.db", "other/secret.key", "other/roles/scribe.md"];
    expect(made.map((file) => fileMode(inHome(file)))).toEqual(made.map(() => 0o600));
    chmodSync(inHome("with.backup"), 0o644);
    await call(backup, ["with.backup", "--force"]);
    expect(fileMode(inHome("with.backup"))).toBe(0o600);
  },
);

test("a backup replaces an existing file only with --force", async () => {
  await dataFolder();
  writeFileSync(inHome("taken"), "something else");
  expect(await call(backup, ["taken"])).toMatchObject({ code: 1, text: expect.stringContaining("--force") });
  expect(readFileSync(inHome("taken"), "utf8")).toBe("something else");
  expect((await call(backup, ["taken", "--force"])).code).toBe(0);
  expect((await call(restore, ["taken"], "other")).code).toBe(0);
});

test("a backup never replaces Troupe's own files", async () => {
  await dataFolder();
  const key = readFileSync(inHome("data", "secret.key"));
  for (const name of ["troupe.db", "secret.key", "troupe.db-wal"])
    expect(await call(backup, [`data/${name}`, "--force"])).toMatchObject({
      code: 1,
      text: expect.stringContaining(`${name} is reserved for Troupe's own data. Choose another name.`),
    });
  expect(readFileSync(inHome("data", "secret.key"))).toEqual(key);
  expect((await call(backup, ["data/mine.backup"])).code).toBe(0);
});

test("the remains of an interrupted restore don't prevent another one", async () => {
  await dataFolder();
  await call(backup, ["one.backup"]);
  mkdirSync(inHome("other"));
  writeFileSync(inHome("other", "troupe.db.restoring"), "half of it");
  expect((await call(restore, ["one.backup"], "other")).code).toBe(0);
  expect(readdirSync(inHome("other"))).not.toContain("troupe.db.restoring");
});

test("a backup during writes is a consistent snapshot of the database", async () => {
  await dataFolder();
  open!.$client.exec("create table pairs (a integer, b integer)");
  // Each transaction adds to both sides; a copy from between would have one more on one of them.
  const writer = new Worker(
    `const { workerData, parentPort } = require("node:worker_threads");
     import(workerData.driver).then(({ default: Database }) => {
       const db = new Database(workerData.file, { timeout: 5000 });
       const one = db.prepare("insert into pairs values (1, 0)"), two = db.prepare("insert into pairs values (0, 1)");
       const both = db.transaction(() => { one.run(); two.run(); });
       const end = new Int32Array(workerData.end);
       for (let n = 0; Atomics.load(end, 0) === 0; n++) { both(); if (n === 10) parentPort.postMessage("writes"); }
       db.close();
     });`,
    {
      eval: true,
      workerData: {
        driver: import.meta.resolve("better-sqlite3"),
        file: inHome("data", "troupe.db"),
        end: new SharedArrayBuffer(4),
      },
    },
  );
  await new Promise((resolve, reject) => writer.once("message", resolve).once("error", reject));
  const made = [];
  for (const name of ["1", "2", "3"]) made.push((await call(backup, [name])).code);
  await writer.terminate();
  expect(made).toEqual([0, 0, 0]);
  for (const name of ["1", "2", "3"]) {
    expect((await call(restore, [name], `from-${name}`)).code).toBe(0);
    const client = new Database(inHome(`from-${name}`, "troupe.db"), { readonly: true });
    const { a, b } = client.prepare("select sum(a) as a, sum(b) as b from pairs").get() as {
      a: number;
      b: number;
    };
    client.close();
    expect(a).toBeGreaterThan(10);
    expect(a).toBe(b);
    expect(verify([`from-${name}`], home, () => {})).toBe(0);
  }
});

test("a restore replaces a folder with data only with --force and keeps the earlier data usable", async () => {
  const first = await dataFolder();
  await call(backup, ["one.backup"]);
  const { id: second } = await newStage({ db: open! }).run(draw("start > b > end"));
  open!.$client.close();
  const before = readdirSync(inHome("data"));
  expect(await call(restore, ["one.backup"])).toMatchObject({
    code: 1,
    text: expect.stringContaining("already has data"),
  });
  expect(readdirSync(inHome("data")).filter((name) => !/^server\./.test(name))).toEqual(before);
  expect((await call(restore, ["one.backup", "--force"])).code).toBe(0);
  expect(runsIn("data")).toEqual([first]);
  const aside = readdirSync(inHome("data")).find((name) => name.startsWith("before-restore-"))!;
  expect(runsIn(`data/${aside}`)).toEqual([first, second].sort());
  expect(readFileSync(inHome("data", aside, "secret.key"))).toEqual(
    readFileSync(inHome("data", "secret.key")),
  );
  expect(readdirSync(inHome("data", aside, "roles"))).toEqual(["scribe.md"]);
});

test("a restore rejects a folder that a server is using", async () => {
  await dataFolder();
  await call(backup, ["one.backup"]);
  const server = new Database(inHome("data", "server.lock"));
  server.exec("begin exclusive");
  expect(await call(restore, ["one.backup", "--force"])).toMatchObject({
    code: 1,
    text: expect.stringContaining("Another Troupe server is using"),
  });
  server.close();
  expect(readdirSync(inHome("data")).some((name) => name.startsWith("before-restore-"))).toBe(false);
});

/** What a gzip file holds; null where it is damaged. */
function unpacked(file: Buffer): Buffer | null {
  try {
    return gunzipSync(file);
  } catch {
    return null;
  }
}

test("a damaged backup is rejected, wherever the damage is, and the folder stays unchanged", async () => {
  await dataFolder();
  await call(backup, ["one.backup"]);
  const whole = readFileSync(inHome("one.backup"));
  const isRejected = async (content: Buffer) => {
    writeFileSync(inHome("bad"), content);
    const answer = await call(restore, ["bad"], "other");
    expect(readdirSync(inHome("other")).filter((name) => !/^server\./.test(name))).toEqual([]);
    return answer.code === 1 && /damaged|no backup/.test(answer.text);
  };
  for (let at = 0; at < whole.length; at += Math.ceil(whole.length / 23)) {
    // What the head says of time and system means nothing.
    if (at > 3 && at < 10) continue;
    const changed = Buffer.from(whole);
    changed[at]! ^= 0x20;
    // A run of zeros may be copied from elsewhere and be the same run.
    if (unpacked(changed)?.equals(gunzipSync(whole))) continue;
    expect([at, await isRejected(changed)]).toEqual([at, true]);
  }
  expect(await isRejected(whole.subarray(0, whole.length - 40))).toBe(true);
  expect(await isRejected(Buffer.from("not a backup"))).toBe(true);
  expect(await isRejected(Buffer.alloc(0))).toBe(true);
  expect(await isRejected(gzipSync("not a database"))).toBe(true);
  // Whole for gzip, and damaged inside.
  const inner = gunzipSync(whole);
  inner.fill(0, 4096, 8192);
  expect(await isRejected(gzipSync(inner))).toBe(true);
});

test("a backup can't write outside its folder, and a newer version's backup is rejected", async () => {
  await dataFolder();
  const changed = async (sql: string) => {
    await call(backup, ["one.backup", "--force"]);
    writeFileSync(inHome("inner.db"), gunzipSync(readFileSync(inHome("one.backup"))));
    const client = new Database(inHome("inner.db"));
    client.exec(sql);
    client.close();
    writeFileSync(inHome("one.backup"), gzipSync(readFileSync(inHome("inner.db"))));
    return call(restore, ["one.backup"], "other");
  };
  expect(await changed("insert into backup_files values ('roles/../../x.md', x'00')")).toMatchObject({
    code: 1,
  });
  expect(existsSync(inHome("x.md"))).toBe(false);
  expect(await changed("update __drizzle_migrations set created_at = created_at + 1e13")).toMatchObject({
    code: 1,
    text: expect.stringContaining("newer version"),
  });
});

test("a restore lists unfinished runs, which continue from the backup", async () => {
  await dataFolder();
  open!.$client.exec("update runs set status = 'waiting'");
  await call(backup, ["one.backup"]);
  expect((await call(restore, ["one.backup"], "other")).text).toContain(
    "1 run was unfinished at that time. It resumes",
  );
});

test("invalid backup and restore commands are rejected with a message", async () => {
  expect((await call(backup, ["x"], "nowhere")).text).toContain("No database at");
  expect((await call(restore, ["missing"], "other")).text).toContain(`File not found: ${inHome("missing")}.`);
  expect(await call(backup, [])).toMatchObject({
    code: 2,
    text: expect.stringContaining("Usage: npm run backup"),
  });
  expect((await call(restore, ["a", "b"])).code).toBe(2);
  expect((await call(backup, ["a", "--what"])).code).toBe(2);
  await dataFolder();
  rmSync(inHome("data", "secret.key"));
  expect((await call(backup, ["x", "--with-key"])).text).toContain("There is no key file");
  expect((await call(backup, ["no/such/folder/x"])).text).toContain("Can't write the backup");
});
