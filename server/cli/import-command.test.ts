import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { strToU8, zipSync } from "fflate";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callWorkflow } from "./testing";

const AGENTS = "reader:\n  role: Reader\n  goal: Read\n  backstory: Fast\n";
const TASKS = "read_task:\n  description: Read {topic}\n  expected_output: Notes\n";
let folder = "";

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "troupe-import-"));
  mkdirSync(path.join(folder, "crew", "config"), { recursive: true });
  writeFileSync(path.join(folder, "crew", "config", "agents.yaml"), AGENTS);
  writeFileSync(path.join(folder, "crew", "config", "tasks.yaml"), TASKS);
  writeFileSync(path.join(folder, "crew", "crew.py"), "import os");
  writeFileSync(
    path.join(folder, "crew.zip"),
    zipSync({ "agents.yaml": strToU8(AGENTS), "tasks.yaml": strToU8(TASKS) }),
  );
  writeFileSync(
    path.join(folder, "n8n.json"),
    '{"nodes": [{"type": "n8n-nodes-base.if"}], "connections": {}}',
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

const workflow = (...args: string[]) => callWorkflow(args, folder);

test("an import lists what a folder contains, asks and omits, and runs nothing", async () => {
  const { code, out } = await workflow("import", "crew");
  expect(code).toBe(0);
  expect(out).toContain("This is a CrewAI crew");
  expect(out).toContain("It adds 3 nodes, 2 edges, 1 role.");
  expect(out).toContain("unassigned=agent:reader");
  expect(out).toContain(
    'config/tasks.yaml:1 read_task.agent: The file doesn\'t assign "read_task" to an agent.',
  );
  expect(out).toContain("Skipped: crew.py.");
});

test("an import with its questions answered is saved as a Troupe file that runs", async () => {
  const saved = await workflow(
    "import",
    "crew.zip",
    "--answer",
    "unassigned=agent:reader",
    "--save",
    "out.json",
    "--json",
  );
  expect([saved.code, JSON.parse(saved.out)]).toMatchObject([
    0,
    { ok: true, name: "Reader", roles: [{ name: "Reader" }] },
  ]);
  const ran = await workflow("out.json", "--quiet", "--input", '{"topic": "owls"}');
  expect([ran.code, Object.keys(JSON.parse(ran.out) as object)]).toEqual([0, ["read_task"]]);
  expect((await workflow("import", "crew.zip", "--save", "out.json")).err).toContain(
    "Can't write out.json: EEXIST: file already exists",
  );
});

test("a failed import prints the file's name and exits with code 2", async () => {
  expect(await workflow("import", "n8n.json")).toMatchObject({
    code: 2,
    out: expect.stringContaining("This is an n8n workflow.") as string,
  });
  expect(await workflow("n8n.json")).toMatchObject({
    code: 2,
    err: expect.stringContaining("This is an n8n workflow.") as string,
  });
  expect(await workflow("import", "nothing")).toMatchObject({ code: 2, err: "File not found: nothing.\n" });
  expect((await workflow("import")).err).toContain("Missing path: a file, a folder or a zip archive.");
});
