import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { writeText } from "@/server/interop/text-files";
import { type Called, callWorkflow } from "./testing";

const root = path.resolve(import.meta.dirname, "../..");
const approval = "e2e/fixtures/simple-approval-workflow.json";

/** Calls the program itself, from the repository's folder. */
function program(...args: string[]): Promise<Called> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["scripts/troupe.mjs", "run", ...args], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, OPENAI_API_KEY: "", OPENAI_BASE_URL: "", INIT_CWD: root },
    });
    let out = "";
    let err = "";
    child.stdout.on("data", (text) => (out += String(text)));
    child.stderr.on("data", (text) => (err += String(text)));
    child.on("close", (code) => resolve({ code: code ?? -1, out, err }));
  });
}
const workflow = (...args: string[]) => callWorkflow(args, root);

test("a workflow runs in the terminal and ends with its output", { timeout: 60_000 }, async () => {
  const request = JSON.stringify({ user_request: "Please approve my vacation for next week." });
  const { code, out, err } = await program(approval, "--input", request);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ approval_status: "approved" });
  expect(err).toContain("simulated");
  expect(err).toContain("✓ Check Approval  → approved");
  expect(err).toMatch(/– Handle Rejection, skipped/);
  expect(err).toMatch(/Completed {2}[\d.]+ s {2}· {2}2 model calls/);
});

test("a paused run without a terminal is cancelled with a reason; with --yes it resumes", async () => {
  const given = [
    approval,
    "--input",
    '{"user_request": "Approve my vacation."}',
    "--break",
    "node_get_approval",
  ];
  const alone = await workflow(...given);
  expect([alone.code, alone.err]).toEqual([130, expect.stringContaining("Use --yes to resume")]);
  expect((await workflow(...given, "--yes", "--quiet")).code).toBe(0);
  const nowhere = await workflow(approval, "--break", "nobody");
  expect([nowhere.code, nowhere.err]).toEqual([2, expect.stringContaining('no node "nobody"')]);
});

test("a workflow in YAML runs like its JSON", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "troupe-yaml-"));
  const file = path.join(folder, "approval.yaml");
  writeFileSync(file, writeText(JSON.parse(readFileSync(approval, "utf8")), "yaml"));
  const { code, out } = await workflow(
    file,
    "--quiet",
    "--input",
    '{"user_request": "Approve my vacation."}',
  );
  expect([code, JSON.parse(out)]).toMatchObject([0, { approval_status: "approved" }]);
  writeFileSync(file, "nodes: &a {}\nedges: *a\n");
  const rejected = await workflow(file);
  expect([rejected.code, rejected.err]).toEqual([2, expect.stringContaining("approval.yaml")]);
  rmSync(folder, { recursive: true });
});

test("run and test reject a folder with several workflows", async () => {
  for (const args of [["examples"], ["test", "examples"]]) {
    const { code, err } = await workflow(...args);
    expect(code).toBe(2);
    expect(err).toMatch(/examples contains \d+ workflows\. Choose one: .*consensus\/workflow\.json, /);
  }
});

test("several files are tested in turn, and the highest exit code is returned", async () => {
  const files = ["examples/consensus/workflow.json", "missing.json", "examples/support-desk/workflow.json"];
  const { code, out, err } = await workflow("test", ...files);
  expect([code, err]).toEqual([2, "File not found: missing.json.\n"]);
  for (const file of files) expect(out).toContain(`${file}\n`);
  expect(out.match(/passed\.$/gm)).toHaveLength(2);
  const json = await workflow("test", ...files, "--json");
  expect([json.code, json.err]).toEqual([
    2,
    expect.stringContaining("--junit and --json take a single file."),
  ]);
});

test("an unknown input is reported, and the run continues", async () => {
  const input = JSON.stringify({ user_request: "Please approve my vacation.", user_reqest: "x" });
  const { code, err } = await workflow(approval, "--input", input, "--speed", "0");
  expect(code).toBe(0);
  expect(err).toContain('The workflow has no input "user_reqest". Its inputs: user_request.\n');
});

test("a question that ends with a question mark gets no period", async () => {
  const example = path.join(root, "examples/invoice-check");
  const { err } = await callWorkflow(["workflow.json", "--input", "@input.json", "--speed", "0"], example);
  expect(err).toContain("Pay invoice 2026-131 of Copyhaus Ltd? The workflow continues");
});

test("the exit code and the JSON output say how the run ended", async () => {
  const { code, out } = await workflow(
    approval,
    "--input",
    '{"user_request":"x"}',
    "--config",
    '{"max_steps":2}',
    "--json",
    "--quiet",
  );
  expect(code).toBe(3);
  expect(JSON.parse(out)).toMatchObject({
    final_status: "INCOMPLETE",
    reason_code: "MAX_STEPS",
    simulated: true,
  });
});

test("--capabilities lists what a file would use, and runs nothing", async () => {
  const [shown, asJson] = await Promise.all([
    workflow("e2e/fixtures/asking-workflow.json", "--capabilities"),
    workflow("e2e/fixtures/asking-workflow.json", "--capabilities", "--json"),
  ]);
  expect(shown.code).toBe(0);
  expect(shown.out).toBe(
    [
      "tool    http_request  <-  Look it up",
      "tool    store_memory  <-  Keep it",
      "host    collector.example  <-  Look it up",
      "memory  global  <-  Keep it",
      "",
    ].join("\n"),
  );
  expect(JSON.parse(asJson.out).map(({ key }: { key: string }) => key)).toEqual([
    "tool:http_request",
    "tool:store_memory",
    "host:collector.example",
    "memory:global",
  ]);
});

test("a file can't disable confirmation: without a terminal, its call is declined", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "troupe-"));
  try {
    const file = path.join(folder, "silent.json");
    const send = { tool_name: "http_write", args: { method: "POST", url: "http://127.0.0.1:9/" } };
    const nodes = [
      { id: "start", node_type: "start" },
      { id: "send", node_type: "tool_call", config: send },
      { id: "end", node_type: "end" },
    ];
    const edges = [
      { source_node_id: "start", target_node_id: "send" },
      { source_node_id: "send", target_node_id: "end" },
    ];
    const config = { confirmation: { kind: "never" } };
    writeFileSync(file, JSON.stringify({ graph_id: "silent", nodes, edges, config }));
    const { code, out, err } = await workflow(file, "--json");
    expect([code, JSON.parse(out).error.message]).toEqual([
      1,
      expect.stringContaining("There is no interactive terminal"),
    ]);
    expect(err).toContain('The file sets the confirmation of runs to "never".');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a file that can't run is reported with the reason", async () => {
  const [missing, wrong] = await Promise.all([
    workflow("nothing-here.json"),
    workflow("package.json", "--json"),
  ]);
  expect(missing).toMatchObject({ code: 2, out: "", err: "File not found: nothing-here.json.\n" });
  expect(wrong.code).toBe(2);
  expect(wrong.err).toContain("package.json is not a workflow file that Troupe can read:");
  expect(JSON.parse(wrong.out)).toMatchObject({ final_status: null });
});

test("the tests in a file run, set the exit code and write a report", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "troupe-"));
  try {
    const file = path.join(folder, "tested.json");
    const graph = JSON.parse(readFileSync(path.join(root, approval), "utf8")) as object;
    const testCase = (user_request: string, equals: string) => ({
      name: user_request,
      input: { user_request },
      expect: [{ kind: "text", key: "approval_status", equals }],
    });
    const tests = [
      testCase("Please approve my vacation.", "approved"),
      testCase("Please approve a new desk.", "rejected"),
    ];
    writeFileSync(file, JSON.stringify({ ...graph, tests }));
    const report = path.join(folder, "out.xml");
    const failed = await workflow("test", file, "--junit", report);
    expect([failed.code, failed.out]).toEqual([
      1,
      `✓ Please approve my vacation. (answered by the offline demo model)
✗ Please approve a new desk. (answered by the offline demo model)
    approval_status should be “rejected”, but is “approved”.

1 passed, 1 failed.
`,
    ]);
    expect(readFileSync(report, "utf8")).toContain('<testsuites tests="2" failures="1" errors="0"');
    const one = await workflow("test", file, "--only", "vacation", "--mutants", "--json");
    expect([one.code, JSON.parse(one.out)]).toMatchObject([0, { passed: 1, mutants: { why_not: null } }]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
