import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

/*
 * Runs the supervisor in a separate process, with a small program as the server. The program appends to a file how the
 * previous one ended, then does what the test says.
 */

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "troupe-supervise-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const APPEND = `require("fs").appendFileSync(process.argv[1], process.env.TROUPE_LAST_END + ";")`;
const UP = `process.send("up")`;
const WAIT = "setInterval(() => {}, 1000)";

/** Runs the supervisor until it exits; calls `act` once `starts` servers have started. */
async function supervised(server: string, { starts = 1, act = (_pid: number) => {}, options = {} } = {}) {
  const file = path.join(folder, "starts");
  const text = `
    const { supervise } = await import(${JSON.stringify(path.join(import.meta.dirname, "supervise.mjs"))});
    supervise(["-e", ${JSON.stringify(server)}, ${JSON.stringify(file)}], ${JSON.stringify(options)});`;
  const main = path.join(folder, "main.mjs");
  writeFileSync(main, text);
  const child = spawn(process.execPath, [main], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (part) => (stderr += String(part)));
  const lasts = () => {
    try {
      return readFileSync(file, "utf8").split(";").slice(0, -1);
    } catch {
      return [];
    }
  };
  const poll = setInterval(() => {
    if (lasts().length < starts) return;
    clearInterval(poll);
    act(child.pid!);
  }, 10);
  const code = await new Promise((resolve) => child.once("exit", (left, signal) => resolve(left ?? signal)));
  clearInterval(poll);
  return { code, lasts: lasts(), stderr: stderr };
}

test("the supervisor restarts a server that crashed or was killed and passes on how it ended", async () => {
  const server = `${UP}; ${APPEND}; const { TROUPE_LAST_END: last } = process.env;
    if (last === "") process.kill(process.pid, "SIGKILL");
    if (last === "SIGKILL") process.abort();
    if (last === "SIGABRT") setTimeout(() => { throw new Error("unexpected") }, 50);
    if (last === "1") process.exit(0);`;
  const { code, lasts } = await supervised(server);
  expect([code, lasts]).toEqual([0, ["", "SIGKILL", "SIGABRT", "1"]]);
});

test("the supervisor gives up with a message after too many crashes", async () => {
  const server = `${UP}; ${APPEND}; process.kill(process.pid, "SIGKILL")`;
  const options = { restarts: { max: 2, withinMs: 60_000 } };
  const { code, lasts, stderr: stderr } = await supervised(server, { options });
  expect([code, lasts.length]).toEqual([70, 3]);
  expect(stderr).toContain("the server ended 3 times within 60 s, the last time with SIGKILL");
});

test("the supervisor doesn't restart a server that can't start, and passes on its exit code", async () => {
  const { code, lasts } = await supervised(`${APPEND}; process.exit(78)`);
  expect([code, lasts]).toEqual([78, [""]]);
});

test("the supervisor forwards a signal once and waits for the server to exit", async () => {
  const server = `process.on("message", (signal) => setTimeout(() => process.exit(signal === "SIGTERM" ? 0 : 9), 100)); ${UP}; ${APPEND}; ${WAIT}`;
  const act = (pid: number) => {
    process.kill(pid, "SIGTERM");
    process.kill(pid, "SIGTERM");
  };
  expect(await supervised(server, { act })).toMatchObject({ code: 0, lasts: [""] });
});

test("the supervisor kills a server that hangs during shutdown", async () => {
  const act = (pid: number) => process.kill(pid, "SIGTERM");
  const server = `${UP}; ${APPEND}; process.on("SIGTERM", () => {}); for (;;);`;
  expect(await supervised(server, { act, options: { graceMs: 200 } })).toMatchObject({
    code: 143,
    lasts: [""],
  });
});
