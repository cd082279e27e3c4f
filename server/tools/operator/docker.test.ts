import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { agent, call, calls, crewGraph, newScriptedStage, role } from "@/server/conformance/stage";
import type { Json } from "@/server/domain/base/values";
import { ToolsRegistry } from "../registry";
import { parseOperatorFile } from "./file";
import { operatorTools } from "./tools";

// What containers do, with a stand-in for Docker: the command is a client, and what it starts belongs to somebody else,
// so that ending the command ends nothing. "Images" are programs in a folder. What Docker itself holds (networks,
// capabilities, its limits) is in the words that it gets, which operator.test.ts checks.

const DOCKER = `#!/usr/bin/env node
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const home = path.dirname(__dirname);
const at = (name) => path.join(home, "containers", name);
const [verb, ...words] = process.argv.slice(2);
const note = { verb, host: process.env.DOCKER_HOST ?? null };
if (verb === "rm") {
  const name = words.at(-1);
  fs.appendFileSync(path.join(home, "asked"), JSON.stringify({ ...note, words }) + "\\n");
  if (!fs.existsSync(at(name))) {
    process.stderr.write("Error: No such container: " + name + "\\n");
    process.exit(1);
  }
  const pid = Number(fs.readFileSync(at(name), "utf8"));
  if (words.includes("--force")) try { process.kill(-pid, "SIGKILL"); } catch {}
  fs.rmSync(at(name), { force: true });
  process.exit(0);
}
if (verb !== "run") process.exit(125);
const takesValue = new Set(["--name", "--network", "--tmpfs", "--memory", "--memory-swap", "--cpus", "--pids-limit", "--cap-drop", "--security-opt", "--env"]);
const options = { "--env": [] };
while (words[0]?.startsWith("-")) {
  const option = words.shift();
  const value = takesValue.has(option) ? words.shift() : true;
  if (option === "--env") options[option].push(value);
  else options[option] = value;
}
const [image, ...args] = words;
fs.appendFileSync(path.join(home, "asked"), JSON.stringify({ ...note, image }) + "\\n");
const entry = path.join(home, "images", image);
if (!fs.existsSync(entry)) {
  process.stderr.write("Unable to find image '" + image + "' locally\\n");
  process.exit(125);
}
// A value of the environment comes from the client's, by name; nothing else of it goes in.
const env = { PATH: process.env.PATH };
for (const name of options["--env"]) if (process.env[name] !== undefined) env[name] = process.env[name];
const bytes = parseInt(options["--memory"]) * 1024 * 1024;
const limited = fs.existsSync("/usr/bin/prlimit") ? ["/usr/bin/prlimit", "--as=" + bytes, "--"] : [];
// A container is known by its name before anything in it runs.
const child = spawn("/bin/sh", ["-c", 'echo $$ > "$0" && exec "$@"', at(options["--name"]), ...limited, entry, ...args], { cwd: home, env, detached: true, stdio: [options["--interactive"] ? "pipe" : "ignore", "pipe", "pipe"] });
child.stdout.pipe(process.stdout);
child.stderr.pipe(process.stderr);
if (child.stdin) { child.stdin.on("error", () => {}); process.stdin.pipe(child.stdin); }
child.on("close", (code, signal) => {
  if (options["--rm"]) fs.rmSync(at(options["--name"]), { force: true });
  process.exitCode = code ?? (signal === "SIGKILL" ? 137 : 143);
});
`;

let home: string;
let env: NodeJS.ProcessEnv;
const image = (name: string, text: string) => {
  writeFileSync(path.join(home, "images", name), text);
  chmodSync(path.join(home, "images", name), 0o755);
};
const containers = () => readdirSync(path.join(home, "containers"));
const asked = () =>
  readFileSync(path.join(home, "asked"), "utf8")
    .trim()
    .split("\n")
    .map(
      (line) => JSON.parse(line) as { verb: string; host: string | null; image?: string; words?: string[] },
    );

beforeAll(() => {
  home = mkdtempSync(path.join(tmpdir(), "troupe-docker-"));
  for (const folder of ["bin", "images", "containers"]) mkdirSync(path.join(home, folder));
  writeFileSync(path.join(home, "bin", "docker"), DOCKER);
  chmodSync(path.join(home, "bin", "docker"), 0o755);
  env = {
    ...process.env,
    PATH: [path.join(home, "bin"), path.dirname(process.execPath), process.env.PATH].join(path.delimiter),
    DOCKER_HOST: "unix:///somewhere/docker.sock",
    TOKEN: "the-token-of-this-tool",
    OTHER_TOKEN: "for-somebody-else",
    TROUPE_PASSWORD: "secret-password",
    OPENAI_API_KEY: "sk-secret",
  };
  image("look", `#!/bin/sh\nfor word in "$@"; do printf '%s\\0' "$word"; done\n`);
  image("environment", `#!/bin/sh\nexport -p | sed 's/^export //; s/^declare -x //' | cut -d= -f1\ncat\n`);
  image("fails", `#!/bin/sh\necho "no such page" >&2\nexit 3\n`);
  image("floods", `#!/bin/sh\nexec yes\n`);
  image("hungry", `#!/bin/sh\nhead -c 300m /dev/zero | tail -c 200m | wc -c\n`);
  image("waits", `#!/bin/sh\n(trap "" TERM; sleep 60) &\necho $! > inner\nwait\n`);
});
afterAll(() => rmSync(home, { recursive: true, force: true }));
beforeEach(() => {
  rmSync(path.join(home, "asked"), { force: true });
  rmSync(path.join(home, "inner"), { force: true });
});

const tools = (name: string, more = "", args = '["{{text}}", "end"]') =>
  operatorTools(
    parseOperatorFile(
      `
tools:
  - name: tool
    type: docker
    description: A container
    image: ${name}
    args: ${args}
    input: { type: object, properties: { text: { type: string } }, required: [text] }
${more}`,
      { file: "tools.yaml", folder: home },
    ),
    env,
  );
function run(
  made: ReturnType<typeof tools>,
  args: Json = { text: "" },
  signal = new AbortController().signal,
) {
  const registry = new ToolsRegistry();
  for (const tool of made) registry.register(tool);
  return registry.invoke("tool", args, { signal, idempotencyKey: "call-1", run: null, agent: null });
}
/** The process inside of the container "waits", once it is there. */
async function inner(): Promise<number> {
  const file = path.join(home, "inner");
  await expect
    .poll(() => existsSync(file) && readFileSync(file, "utf8").trim(), { timeout: 10_000 })
    .toMatch(/^\d+$/);
  return Number(readFileSync(file, "utf8"));
}
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

test("hostile arguments reach the container as plain text, never as options or commands", async () => {
  const hostile = [
    "; touch pwned",
    "$(touch pwned)",
    "`touch pwned`",
    "a\nb\n",
    "--privileged",
    "-v/:/host",
    "--",
    "",
    "'\"\\",
    "*",
    "%s%n",
  ];
  for (const text of hostile)
    expect(await run(tools("look"), { text })).toEqual({ status_code: 200, output: `${text}\0end\0` });
  expect(existsSync(path.join(home, "pwned"))).toBe(false);
  expect(asked().every((call) => call.verb === "run" && call.image === "look")).toBe(true);
  expect(containers()).toEqual([]);
  expect(await run(tools("look"), { text: "a\0b" })).toMatchObject({ status_code: 400 });
});

test("a container gets only its configured variables and JSON arguments, and Docker its host", async () => {
  const { output } = await run(tools("environment", "    env: [TOKEN]\n    set_env: { MODE: fast }"), {
    text: "a",
  });
  const lines = z.string().parse(output).split("\n");
  expect(lines).toEqual(expect.arrayContaining(["TOKEN", "MODE", "TROUPE_IDEMPOTENCY_KEY", '{"text":"a"}']));
  for (const name of ["OTHER_TOKEN", "TROUPE_PASSWORD", "OPENAI_API_KEY", "DOCKER_HOST", "HOME"])
    expect(lines).not.toContain(name);
  expect(asked()).toMatchObject([{ verb: "run", host: env.DOCKER_HOST }]);
});

test("tool failures, Docker failures and a missing Docker are reported separately", async () => {
  expect(await run(tools("fails"))).toEqual({
    tainted: true,
    status_code: 500,
    error: "tool ended with exit code 3:\nno such page",
  });
  expect(await run(tools("fails", "    result: full"))).toEqual({
    status_code: 200,
    output: { exit_code: 3, stdout: "", stderr: "no such page\n" },
  });
  for (const more of ["", "    result: full"])
    expect(await run(tools("nowhere", more))).toEqual({
      status_code: 503,
      error: "Docker could not start nowhere: Unable to find image 'nowhere' locally",
    });
  const before = env;
  env = { ...before, PATH: path.join(home, "images") };
  try {
    expect(await run(tools("look"))).toEqual({
      status_code: 503,
      error: "The program docker was not found.",
    });
  } finally {
    env = before;
  }
});

test("a timeout ends the container and all its processes", async () => {
  const ending = run(tools("waits", "    timeout_ms: 5000"));
  const pid = await inner();
  expect(isAlive(pid)).toBe(true);
  expect(await ending).toEqual({ status_code: 408, error: "It did not finish within 5 s." });
  await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
  await expect.poll(containers).toEqual([]);
  const [begun, ended] = asked();
  // By the same server, and by the name that it was started under.
  expect([begun?.host, ended?.host]).toEqual([env.DOCKER_HOST, env.DOCKER_HOST]);
  expect(ended?.words).toEqual(["--force", expect.stringMatching(/^troupe-[0-9a-f]{16}$/)]);
});

test("a container with endless output is stopped at its limit", async () => {
  expect(await run(tools("floods", "    max_output_kb: 64"))).toEqual({
    status_code: 413,
    error: "It wrote more than 65536 bytes.",
  });
  await expect.poll(containers, { timeout: 10_000 }).toEqual([]);
});

test.runIf(existsSync("/usr/bin/prlimit"))(
  "the memory limit in a tool's entry is passed on to Docker",
  async () => {
    expect((await run(tools("hungry", "    memory_mb: 1024"))).output).toBe(`${200 * 1024 * 1024}\n`);
    expect((await run(tools("hungry", "    memory_mb: 64"))).output).not.toBe(`${200 * 1024 * 1024}\n`);
  },
);

test("cancelling the run stops its agent's container", async () => {
  const made = tools("waits");
  const stage = newScriptedStage([calls(call("tool", { text: "x" }))], made);
  const id = stage.start(
    crewGraph({ agents: [agent("a")] }, { tasks: [{ task_id: "t", description: "t", required_role: "a" }] }),
    { roles: [role("a", ["tool"])], config: { confirmation: { kind: "never" } } },
  );
  const pid = await inner();
  expect(containers()).toHaveLength(1);
  expect(stage.host.cancel(id, { by: "ann", reason: "" })).toBe(true);
  await stage.host.settled(id);
  expect(stage.store.state(id)?.run.final_status).toBe("CANCELLED");
  await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
  await expect.poll(containers).toEqual([]);
});
