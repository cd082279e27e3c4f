import { strToU8, zipSync } from "fflate";
import { expect, test } from "vitest";
import { expectSchema, newApi } from "@/server/http-api/testing";

const AGENTS =
  "reader:\n  role: Reader\n  goal: Read\n  backstory: Fast\n  tools: [SerperDevTool, my_tool]\n";
const TASKS = "read_task:\n  description: Read {topic}\n  expected_output: Notes\n";
const FILES = [
  { path: "agents.yaml", text: AGENTS },
  { path: "tasks.yaml", text: TASKS },
];

test("an import is previewed first and saved once it is confirmed", async () => {
  const api = newApi();
  const looked = await api.ask("POST", "/imports", { files: FILES });
  expect(looked.status).toBe(200);
  expectSchema("importFiles", looked.body);
  expect(looked.body).toMatchObject({
    ok: true,
    found: [{ format: "crewai-yaml", is_readable: true }],
    roles: [{ role: { name: "Reader" }, state: "new", asks: ["web_search"] }],
    tools: [
      { name: "SerperDevTool", ours: "web_search", by: ["Reader"] },
      { name: "my_tool", by: ["Reader"] },
    ],
    done: null,
  });
  expect(api.workflows.list()).toEqual([]);
  expect(api.roles.find("Reader")).toBeUndefined();

  const answers = { unassigned: "agent:reader" };
  const { body } = await api.ask("POST", "/imports", {
    files: FILES,
    answers,
    confirm: true,
    name: "Readers",
  });
  expectSchema("importFiles", body);
  expect(body.done).toMatchObject({
    created: ["Reader"],
    left_out: [{ role: "Reader", tools: ["web_search"] }],
    withheld: ["tool:web_search"],
  });
  const saved = api.workflows.find(body.done.workflow_id);
  expect(saved?.name).toBe("Readers");
  expect(saved?.graph.nodes.read_task?.config).toMatchObject({ required_role: "Reader" });
  expect(api.roles.find("Reader")?.role.tools).toEqual([]);
});

test("an API token can't allow capabilities of imported files", async () => {
  const api = newApi();
  const answer = await api.ask("POST", "/imports", {
    files: FILES,
    confirm: true,
    allow: ["tool:web_search"],
  });
  expect(answer).toMatchObject({ status: 403, body: { error: { code: "person_only" } } });
  expect(api.workflows.list()).toEqual([]);
});

test("an archive is unpacked, and a damaged one is rejected", async () => {
  const api = newApi();
  const base64 = Buffer.from(
    zipSync({ "crew/agents.yaml": strToU8(AGENTS), "crew/tasks.yaml": strToU8(TASKS) }),
  ).toString("base64");
  const { body } = await api.ask("POST", "/imports", { files: [{ path: "crew.zip", base64 }] });
  expect(body.found[0].files).toEqual(["agents.yaml", "tasks.yaml"]);
  const broken = Buffer.from("PK\u0003\u0004 and no more").toString("base64");
  expect(await api.ask("POST", "/imports", { files: [{ path: "crew.zip", base64: broken }] })).toMatchObject({
    status: 422,
    body: { error: { code: "not_importable" } },
  });
});

test("an unsupported file is reported in the preview and rejected on import", async () => {
  const api = newApi();
  const files = [{ path: "x.json", text: '{"nodes": [{"type": "n8n-nodes-base.if"}], "connections": {}}' }];
  const { body } = await api.ask("POST", "/imports", { files });
  expect(body).toMatchObject({
    ok: false,
    found: [{ label: "an n8n workflow", is_readable: false }],
    graph: null,
  });
  expect(await api.ask("POST", "/imports", { files, confirm: true })).toMatchObject({
    status: 422,
    body: {
      error: {
        code: "not_importable",
        message: expect.stringContaining("This is an n8n workflow.") as string,
      },
    },
  });
  // Nor does it come in as a workflow of nothing.
  const direct = await api.ask("POST", "/workflows", JSON.parse(files[0]?.text ?? ""));
  expect(direct).toMatchObject({
    status: 422,
    body: { error: { message: "This is an n8n workflow, not a workflow file." } },
  });
  expect(api.workflows.list()).toEqual([]);
  expect((await api.ask("POST", "/imports", { files: [] })).status).toBe(400);
  expect((await api.ask("POST", "/imports", { files: FILES, over: "wf_none" })).status).toBe(404);
});
