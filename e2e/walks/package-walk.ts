// Packs Troupe, installs the file into an empty folder without a network, and uses it there as a person would:
// `node --import tsx e2e/walks/package-walk.ts NODE`, with a Node that is 22 or newer.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { npmCommand } from "../../scripts/prepare.mjs";
import { freePort, TroupeProcess } from "../support/troupe-process";
import { ROLE_OF_WALK, walkFile } from "./walk-file";

const PATIENCE_MS = 30_000;
const node = process.argv[2] ?? process.execPath;
const scratch = mkdtempSync(path.join(os.tmpdir(), "troupe-package-"));
const place = (...names: string[]) => path.join(scratch, ...names);
const env: Record<string, string | undefined> = { ...process.env, INIT_CWD: scratch };

try {
  succeeds(process.execPath, [path.resolve(import.meta.dirname, "../../scripts/package.mjs")]);
  const [file] = readdirSync(scratch);
  assert(file, "There is a file to install.");
  writeFileSync(place("package.json"), "{}");
  const [npm, args] = npmCommand(["install", place(file), "--offline", "--no-audit", "--no-fund"]) as [
    string,
    string[],
  ];
  succeeds(npm, args);
  assert.deepEqual(
    readdirSync(place("node_modules")).filter((name) => !name.startsWith(".")),
    ["troupe"],
  );
  const program = place("node_modules", "troupe", "troupe.mjs");
  // The first start unpacks the application.
  assert.match(succeeds(node, [program, "--version"]), /^\d+\.\d+\.\d+\n$/);
  const installed = filesIn(place("node_modules", "troupe"));
  const ours = installed.filter((name) => !name.includes("node_modules"));
  assert.deepEqual(
    ours.filter((name) => /\.tsx?$|\.test\.|\.map$|^(?:e2e|bench|data)\/|(?:^|\/)\.env/.test(name)),
    [],
  );
  const bytes = installed.reduce(
    (sum, name) => sum + statSync(place("node_modules", "troupe", name)).size,
    0,
  );
  console.log(
    `${(statSync(place(file)).size / 1e6).toFixed(1)} MB packed, ${(bytes / 1e6).toFixed(1)} MB and ${installed.length} files installed`,
  );
  await walk(program);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** Starts it with data where the system keeps them, runs a workflow, takes a backup, and uses what comes out of that. */
async function walk(troupe: string) {
  const home = place("home");
  const own = {
    HOME: home,
    XDG_DATA_HOME: place("home", "data"),
    LOCALAPPDATA: home,
    TROUPE_OFFLINE_SPEED: "0",
    TROUPE_ENABLE_CODE: "1",
  };
  const stands = place("elsewhere");
  mkdirSync(stands);
  const server = new TroupeProcess("", await freePort(), "token-of-the-walk", own, node, {
    args: [troupe],
    cwd: stands,
  });
  const command = (...args: string[]) => succeeds(node, [troupe, ...args], stands, own);
  try {
    await server.start();
    await server.call("POST", "/roles", ROLE_OF_WALK);
    const { id } = await server.call<{ id: string }>("POST", "/workflows", walkFile);
    const { run_id } = await server.call<{ run_id: string }>("POST", `/workflows/${id}/runs`, {
      input: { pause: 21 },
    });
    const run = await ended(server, run_id);
    assert.deepEqual([run.final_status, run.output?.doubled], ["COMPLETED", 42]);
    const page = await (await fetch(`${server.home}/`, { headers: { accept: "text/html" } })).text();
    const script = /\/_next\/static\/[^"]+\.js/.exec(page)?.[0];
    const answer = await fetch(`${server.home}${script}`, { headers: { "accept-encoding": "br" } });
    assert.deepEqual([answer.status, answer.headers.get("content-encoding")], [200, "br"]);
    assert.match(command("backup", "all.backup", "--with-key"), /and the key/);
  } catch (error) {
    console.error(server.printed);
    throw error;
  } finally {
    await server.stop();
  }
  assert.deepEqual(readdirSync(stands), ["all.backup"], "The data are not where a person happens to stand.");
  if (process.platform === "linux")
    assert(readdirSync(place("home", "data", "troupe")).includes("troupe.db"));
  Object.assign(own, { TROUPE_DATA_DIR: "restored" });
  command("restore", "all.backup");
  assert.match(command("verify"), /1 run, .* all are as they were written/);
  writeFileSync(path.join(stands, "flow.json"), JSON.stringify({ ...walkFile, roles: [ROLE_OF_WALK] }));
  assert.match(command("run", "flow.json", "--input", '{"pause": 21}', "--quiet"), /"doubled": 42/);
  assert.match(command("--help"), /troupe restore FILE/);
}

interface RunView {
  final_status: string | null;
  output: Record<string, unknown> | null;
}

async function ended(server: TroupeProcess, run: string): Promise<RunView> {
  for (const began = Date.now(); ; ) {
    const view = await server.call<RunView>("GET", `/runs/${run}`);
    if (view.final_status !== null) return view;
    assert(Date.now() - began < PATIENCE_MS, "The run takes too long.");
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

function succeeds(program: string, args: string[], cwd = scratch, more: Record<string, string> = {}): string {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    env: { ...env, ...more } as NodeJS.ProcessEnv,
    encoding: "utf8",
    shell: process.platform === "win32" && !path.isAbsolute(program),
  });
  assert.equal(status, 0, `${args.join(" ")}\n${stdout}\n${stderr}`);
  return stdout;
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
}
