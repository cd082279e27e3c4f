import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { streamLimits } from "@/server/access/requests/streams";
import { AgentConfig } from "@/server/domain/agent/role";
import { present } from "@/server/domain/base/must";
import { CrewConfig } from "@/server/domain/crew/crew";
import { readWorkflow } from "@/server/domain/graph/document/document";
import { draw } from "@/server/domain/testing/drawing";
import { readImport } from "@/server/interop/import/pipeline";
import { NAMED_SCHEMAS } from "@/server/operations/named-schemas";
import { findTemplate } from "@/server/templates";
import { ENDPOINTS } from "./table";
import { type Api, expectSchema, newApi } from "./testing";

let api: Api;
beforeEach(() => {
  api = newApi();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const VACATION = { input: { user_request: "Please approve my vacation for next week." } };

describe("authentication and errors", () => {
  test("every endpoint except health and OpenAPI requires a token, even on this machine", async () => {
    const open: string[] = [];
    for (const { method, path } of ENDPOINTS) {
      const response = await api.send(method, path.replace(/\{\w+\}/g, "x"), undefined, {
        authorization: "Bearer bad",
      });
      if (response.status !== 401) open.push(path);
    }
    expect(open).toEqual(["/health", "/openapi.json"]);
  });

  test("an unknown path is reported as not found only to authenticated callers", async () => {
    expect((await api.ask("GET", "/nothing")).status).toBe(404);
    expect((await api.ask("GET", "/nothing", undefined, { authorization: "" })).status).toBe(401);
    expect((await api.ask("GET", "/runs/%E0%A4%A")).status).toBe(404);
    for (const name of ["__proto__", "constructor", "toString"])
      expect((await api.ask("GET", `/${name}`)).status).toBe(404);
  });

  test("a wrong method is rejected with the allowed methods", async () => {
    const { status, headers, body } = await api.ask("DELETE", "/runs");
    expect([status, headers.get("allow"), body.error.code]).toEqual([405, "GET", "method_not_allowed"]);
  });

  test("responses are JSON that is neither cached nor rendered", async () => {
    for (const path of ["/health", "/runs", "/nothing"]) {
      const { headers } = await api.send("GET", path);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("content-security-policy")).toContain("sandbox");
      expect(headers.get("content-type")).toContain("application/json");
    }
  });

  test("an unexpected error returns an id and no details", async () => {
    vi.spyOn(process.stderr, "write").mockReturnValue(true);
    vi.spyOn(api.workflows, "list").mockImplementation(() => {
      throw new Error("sk-CANARY-0123456789abcdef at /home/someone");
    });
    const { status, body } = await api.ask("GET", "/workflows");
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toMatch(/CANARY|someone/);
    expect(body.error.details.id).toMatch(/^err_/);
    const logged = String(vi.mocked(process.stderr.write).mock.calls[0]?.[0]);
    expect(logged).toContain(body.error.details.id);
    expect(logged).not.toContain("CANARY");
  });
});

test("the health endpoint returns ok without a token", async () => {
  const { status, body } = await api.ask("GET", "/health", undefined, { authorization: "" });
  expect([status, body.status]).toEqual([200, "ok"]);
  expectSchema("getHealth", body);
});

describe("workflows", () => {
  test("a workflow created from its exported file exports the same file", async () => {
    const id = api.addApproval();
    const file = await api.ask("GET", `/workflows/${id}`);
    expect(file.status).toBe(200);
    expect(file.headers.get("etag")).toBe('"1"');
    expectSchema("exportWorkflow", file.body);

    const made = await api.ask("POST", "/workflows", file.body);
    expect(made.status).toBe(201);
    expectSchema("createWorkflow", made.body);
    const again = await api.ask("GET", `/workflows/${made.body.id}`);
    expect(again.body).toEqual(file.body);
  });

  test("control characters are removed from submitted names", async () => {
    const turned = "Delete\u202e llA\u202c";
    const graph = draw("start > end", {});
    const start = { ...graph.nodes.start, name: turned };
    const file = { troupe: 1, name: turned, workflow: { ...graph, nodes: { ...graph.nodes, start } } };
    const { id } = (await api.ask("POST", "/workflows", file)).body;
    const saved = () => {
      const { name, graph: drawn } = present(api.workflows.find(id), "the workflow");
      return [name, drawn.nodes.start?.name];
    };
    expect(saved()).toEqual(["Delete llA", "Delete llA"]);
    await api.ask("PUT", `/workflows/${id}/name`, { name: `New \u202e${turned}` });
    expect(saved()).toEqual(["New Delete llA", "Delete llA"]);

    const role = await api.ask("POST", "/roles", { name: turned });
    expect([role.status, role.headers.get("location")]).toEqual([201, "/api/v1/roles/Delete%20llA"]);
    const renamed = await api.ask("PUT", "/roles/Delete%20llA", { name: `New ${turned}` });
    expect(renamed.body.role.name).toBe("New Delete llA");
    const agent = { agent_id: "a", role_name: "Writer" };
    expect((await api.ask("POST", "/agents", { name: turned, agent })).body.name).toBe("Delete llA");
  });

  test("a file submitted with a token keeps its confirmation policy", async () => {
    const file = (await api.ask("GET", `/workflows/${api.addApproval()}`)).body;
    const confirmation = { kind: "never" } as const;
    const { body } = await api.ask("POST", "/workflows", {
      ...file,
      workflow: { ...file.workflow, config: { confirmation } },
    });
    expect(api.workflows.find(body.id)?.graph.config?.confirmation).toEqual(confirmation);
    expect(body.findings.filter(({ level }: { level: string }) => level === "changed")).toEqual([]);
  });

  test("an imported file adds missing roles and keeps existing ones", async () => {
    const file = (await api.ask("GET", `/workflows/${api.addApproval()}`)).body;
    const [first] = file.roles;
    api.roles.remove(first.name);
    const { body } = await api.ask("POST", "/workflows", {
      ...file,
      roles: [first, ...file.roles.slice(1).map((role: object) => ({ ...role, description: "Other words" }))],
    });
    expect(api.roles.find(first.name)).toBeDefined();
    expect(body.findings.map(({ message }: { message: string }) => message)).toContain(
      `Added the role "${first.name}".`,
    );
    expect(JSON.stringify(api.roles.all())).not.toContain("Other words");
  });

  test("a file that isn't a workflow is rejected", async () => {
    for (const file of [[], "text", {}, { nodes: 1 }, 5]) {
      const { status, body } = await api.ask("POST", "/workflows", JSON.stringify(file));
      expect([status, body.error.code]).toEqual([422, "not_a_workflow"]);
    }
    expect((await api.ask("POST", "/workflows", "{")).body.error.code).toBe("bad_json");
    expect(api.workflows.list()).toEqual([]);
  });

  test("reserved property names in a file pollute no prototype", async () => {
    const text = JSON.stringify((await api.ask("GET", `/workflows/${api.addApproval()}`)).body);
    const hostile = text.replace(
      '"nodes":{',
      '"nodes":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},',
    );
    const { status } = await api.ask("POST", "/workflows", hostile);
    expect([201, 422]).toContain(status);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test("workflows are listed in pages, newest first, each once", async () => {
    const ids = Array.from({ length: 5 }, () => api.addApproval());
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const query: string = cursor ? `&cursor=${cursor}` : "";
      const { body } = await api.ask("GET", `/workflows?limit=2${query}`);
      expectSchema("listWorkflows", body);
      expect(body.workflows.length).toBeLessThanOrEqual(2);
      seen.push(...body.workflows.map(({ id }: { id: string }) => id));
      cursor = body.next_cursor;
    }
    expect(seen.sort()).toEqual(ids.sort());
    expect((await api.ask("GET", "/workflows?cursor=nonsense")).status).toBe(400);
    expect((await api.ask("GET", "/workflows?limit=0")).body.error.details.issues[0].at).toBe("limit");
    expect((await api.ask("GET", "/workflows?limit=abc")).body.error.details.issues).toEqual([
      { at: "limit", message: "expected a number" },
    ]);
  });

  test("a workflow is replaced at the given revision or at the newest", async () => {
    const id = api.addApproval();
    const file = (await api.ask("GET", `/workflows/${id}`)).body;
    expect((await api.ask("PUT", `/workflows/${id}`, { ...file, name: "Renamed" })).body.revision).toBe(2);
    expect(api.workflows.find(id)?.name).toBe("Renamed");
    const stale = await api.ask("PUT", `/workflows/${id}`, file, { "if-match": '"1"' });
    expect([stale.status, stale.body.error.details]).toEqual([412, { revision: 2 }]);
    expect((await api.ask("PUT", `/workflows/${id}`, file, { "if-match": '"2"' })).status).toBe(200);
    expect((await api.ask("PUT", `/workflows/${id}`, file, { "if-match": "x" })).status).toBe(400);
    expect((await api.ask("PUT", "/workflows/wf_none", file)).status).toBe(404);
  });

  test("a deleted workflow is no longer found", async () => {
    const id = api.addApproval();
    expect((await api.send("DELETE", `/workflows/${id}`)).status).toBe(204);
    expect((await api.ask("GET", `/workflows/${id}`)).status).toBe(404);
    expect((await api.ask("DELETE", `/workflows/${id}`)).status).toBe(404);
  });

  test("a workflow's capabilities are listed and can be allowed or withheld by key", async () => {
    const graph = draw("start > a > end", {
      a: { node_type: "http_request", output_keys: ["page"], config: { url: "https://a.example/x" } },
    });
    const id = api.workflows.create({ name: "x", graph });
    const path = `/workflows/${id}/capabilities`;
    const { body } = await api.ask("GET", path);
    expectSchema("getWorkflowCapabilities", body);
    const allowedOf = (answer: { capabilities: { key: string; allowed: boolean }[] }) =>
      answer.capabilities.map(({ key, allowed }) => [key, allowed]);
    expect(allowedOf(body)).toEqual([
      ["tool:http_request", true],
      ["host:a.example", true],
    ]);
    const { body: less } = await api.ask("PUT", path, { allow: ["tool:http_request"] });
    expect(allowedOf(less)).toEqual([
      ["tool:http_request", true],
      ["host:a.example", false],
    ]);
    const { body: validation } = await api.ask("POST", `/workflows/${id}/validate`);
    expect([validation.can_run, validation.problems[0].code]).toEqual([false, "E_NOT_ALLOWED"]);
    expect((await api.ask("POST", `/workflows/${id}/runs`, { input: {} })).status).toBe(422);
    const wrong = await api.ask("PUT", path, { allow: ["tool:http_write"] });
    expect([wrong.status, wrong.body.error.details.unknown]).toEqual([422, ["tool:http_write"]]);
  });

  test("a workflow exported as YAML is read back unchanged", async () => {
    const id = api.addApproval();
    const exported = await api.send("GET", `/workflows/${id}?format=yaml`);
    expect([exported.status, exported.headers.get("content-type")]).toEqual([
      200,
      "application/yaml; charset=utf-8",
    ]);
    const { imported, findings } = readImport([{ path: "w.yaml", text: await exported.text() }]);
    expect(findings).toEqual([]);
    expect(imported?.graph).toEqual(readWorkflow((await api.ask("GET", `/workflows/${id}`)).body).graph);
  });

  test("validating a workflow lists its problems", async () => {
    const id = api.addApproval();
    const fine = (await api.ask("POST", `/workflows/${id}/validate`)).body;
    expectSchema("validateWorkflow", fine);
    expect(fine.can_run).toBe(true);
    api.roles.remove("ApprovalAgent");
    const broken = (await api.ask("POST", `/workflows/${id}/validate`, {})).body;
    expect(broken.can_run).toBe(false);
    expect(broken.problems[0].at).toMatchObject({ kind: "node", id: "node_get_approval" });
  });
});

describe("runs", () => {
  const start = (id: string, body: unknown = VACATION, headers?: Record<string, string>) =>
    api.ask("POST", `/workflows/${id}/runs`, body, headers);

  test("a run started over the API can be read with its output", async () => {
    const { status, body, headers } = await start(api.addApproval());
    expect([status, headers.get("location")]).toEqual([202, `/api/v1/runs/${body.run_id}`]);
    await api.host.settled(body.run_id);
    const run = (await api.ask("GET", `/runs/${body.run_id}`)).body;
    expectSchema("getRun", run);
    expect(run).toMatchObject({
      status: "finished",
      final_status: "COMPLETED",
      reason_code: "END_REACHED",
      error: null,
      trigger: "api",
      input: VACATION.input,
      state: { approval_status: "approved" },
      nodes: { node_get_approval: { status: "completed", output: { approver_comments: "Enjoy." } } },
    });
    expect(run.usage.requests).toBeGreaterThan(0);
  });

  test("repeated and concurrent starts with one idempotency key start one run", async () => {
    const id = api.addApproval();
    const tries = await Promise.all(
      Array.from({ length: 20 }, () => start(id, VACATION, { "idempotency-key": "once" })),
    );
    expect(new Set(tries.map(({ body }) => body.run_id)).size).toBe(1);
    expect(tries.filter(({ headers }) => headers.get("idempotent-replayed") === "true")).toHaveLength(19);
    expect(api.runs.list()).toHaveLength(1);
    const otherWorkflow = await start(api.addApproval(), VACATION, { "idempotency-key": "once" });
    expect([otherWorkflow.status, otherWorkflow.body.error.code]).toEqual([422, "key_reused"]);
    // Another input or other settings are another request; the order of keys is not.
    for (const other of [
      { input: { user_request: "Please approve my flight." } },
      { ...VACATION, config: { max_steps: 7 } },
    ]) {
      const rejected = await start(id, other, { "idempotency-key": "once" });
      expect([rejected.status, rejected.body.error.code]).toEqual([422, "key_reused"]);
      expect(rejected.body.error.message).toContain(rejected.body.error.details.run_id);
    }
    expect((await start(id, { config: {}, ...VACATION }, { "idempotency-key": "once" })).status).toBe(202);
    expect((await start(id, VACATION, { "idempotency-key": "x".repeat(201) })).status).toBe(400);
  });

  test("a start that fails says why", async () => {
    const id = api.addApproval();
    const noInput = await start(id, { input: {} });
    expect([noInput.status, noInput.body.error.code]).toEqual([422, "invalid_input"]);
    expect(noInput.body.error.details.errors[0].key).toBe("user_request");
    api.roles.remove("ApprovalAgent");
    const broken = await start(id);
    expect([broken.status, broken.body.error.code]).toEqual([422, "workflow_has_problems"]);
    expect(broken.body.error.details.problems[0].code).toMatch(/\w+/);
    expect((await start("wf_none")).status).toBe(404);
    expect((await start(id, { input: 5 })).status).toBe(400);
    expect((await start(id, { input: {}, config: { max_steps: 0 } })).body.error.details.issues[0].at).toBe(
      "config.max_steps",
    );
    for (const [body, named] of [
      [{ config: { max_tokens: -1 } }, "max_tokens"],
      [{ config: { nonsense: 1 } }, "nonsense"],
      [{ configuration: { max_steps: 5 } }, "configuration"],
      [{ config: { budget: { max_total_tokens: 1.5 } } }, "config.budget.max_total_tokens"],
      [{ config: { mode: "sideways" } }, "mode"],
    ] as const) {
      const rejected = await start(id, { input: {}, ...body });
      expect([rejected.status, rejected.body.error.message]).toEqual([
        400,
        expect.stringContaining(named) as string,
      ]);
    }
    expect(api.runs.list()).toEqual([]);
  });

  test("settings missing from a start request come from the workflow", async () => {
    const graph = findTemplate("approval")?.graph as never as object;
    const id = api.workflows.create({
      name: "x",
      graph: { ...graph, config: { max_loop_iterations: 7 } } as never,
    });
    const { body } = await start(id, { ...VACATION, config: { max_steps: 9 } });
    const { config } = api.runs.state(body.run_id)?.run ?? {};
    expect([config?.max_steps, config?.max_loop_iterations]).toEqual([9, 7]);
  });

  test("runs are listed in pages, newest first, by workflow and status", async () => {
    const [one, two] = [api.addApproval(), api.addApproval()];
    for (const id of [one, two, one, two, one]) await api.host.settled((await start(id)).body.run_id);
    const first = (await api.ask("GET", "/runs?limit=3")).body;
    expectSchema("listRuns", first);
    const second = (await api.ask("GET", `/runs?limit=3&cursor=${first.next_cursor}`)).body;
    expect(second.next_cursor).toBeNull();
    const ids = [...first.runs, ...second.runs].map(({ id }: { id: string }) => id);
    expect(ids).toEqual(api.runs.list().map(({ id }) => id));
    expect((await api.ask("GET", `/runs?workflow_id=${one}`)).body.runs).toHaveLength(3);
    expect((await api.ask("GET", "/runs?status=running")).body.runs).toEqual([]);
    expect((await api.ask("GET", "/runs?status=odd")).status).toBe(400);
  });

  test("runs with one final status are listed in pages without gaps", async () => {
    const good = api.addApproval();
    const { graph } = api.workflows.find(good)!;
    const bad = api.workflows.create({
      name: "stops at once",
      graph: { ...graph, config: { ...graph.config, max_steps: 1 } } as never,
    });
    const stopped: string[] = [];
    for (const id of [bad, good, bad, good, good, bad]) {
      const { run_id } = (await start(id)).body;
      await api.host.settled(run_id);
      if (id === bad) stopped.unshift(run_id);
    }
    const list = async (query: string) => (await api.ask("GET", `/runs?${query}`)).body;
    const idsOf = (body: { runs: { id: string }[] }) => body.runs.map(({ id }) => id);
    const first = await list("final_status=INCOMPLETE&limit=2");
    const second = await list(`final_status=INCOMPLETE&limit=2&cursor=${first.next_cursor}`);
    expect([...idsOf(first), ...idsOf(second)]).toEqual(stopped);
    expect((await list("final_status=COMPLETED")).runs).toHaveLength(3);
    expect((await list("final_status=COMPLETED&status=running")).runs).toEqual([]);
    expect((await api.ask("GET", "/runs?final_status=FINE")).status).toBe(400);
    expect(api.runs.list({ status: ["queued", "running", "waiting"] })).toEqual([]);
    expect(api.runs.list({ status: ["waiting", "finished"] })).toHaveLength(6);
  });

  test("a run's events are returned in parts, in order and without gaps", async () => {
    const { body } = await start(api.addApproval());
    await api.host.settled(body.run_id);
    const seqs: number[] = [];
    for (let after = 0; ; ) {
      const part = (await api.ask("GET", `/runs/${body.run_id}/events?after=${after}&limit=7`)).body;
      expectSchema("listRunEvents", part);
      expect(part.events.length).toBeLessThanOrEqual(7);
      seqs.push(...part.events.map(({ seq }: { seq: number }) => seq));
      after = part.last_seq;
      if (!part.has_more) break;
    }
    expect(seqs).toEqual(seqs.map((_, i) => i + 1));
    expect((await api.ask("GET", "/runs/run_none/events")).status).toBe(404);
  });

  test("a run's event stream ends with an end event and can be resumed", async () => {
    const { body } = await start(api.addApproval());
    const stream = (headers: Record<string, string> = {}) =>
      api.send("GET", `/runs/${body.run_id}/events`, undefined, { accept: "text/event-stream", ...headers });
    const live = await stream();
    expect(live.headers.get("content-type")).toContain("text/event-stream");
    expect(live.headers.get("cache-control")).toContain("no-transform");
    const messages = messagesIn(await live.text());
    const ids = messages.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
    expect(ids).toEqual(ids.map((_, i) => i + 1));
    expect(messages.at(-1)).toMatchObject({ event: "end", data: { final_status: "COMPLETED" } });
    const rest = messagesIn(await (await stream({ "last-event-id": "5" })).text());
    expect(Number(rest[0]?.id)).toBe(6);
    expect((await stream({ "last-event-id": "five" })).status).toBe(400);

    // A standard reader comes back after the end with the last id, or begins with an empty one.
    const last = String(ids.at(-1));
    expect((await stream({ "last-event-id": last })).status).toBe(204);
    const again = messagesIn(await (await stream({ "last-event-id": "" })).text());
    // Text as it is being written is told only while it is.
    expect(again).toEqual(messages.filter(({ event }) => event !== "live"));
    const typeFor = async (accept: string) => (await stream({ accept })).headers.get("content-type");
    expect(await typeFor("TEXT/EVENT-STREAM")).toContain("text/event-stream");
    expect(await typeFor("application/json, text/event-stream;q=0.5")).toContain("text/event-stream");
    expect(await typeFor("text/event-stream;q=0, application/json")).toContain("application/json");
  });

  test("cancelling stops a run, and a finished run stays unchanged", async () => {
    api = newApi(
      (_request, signal) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(new Error("aborted"))),
        ),
    );
    const { body } = await start(api.addApproval());
    const cancelled = await api.ask("POST", `/runs/${body.run_id}/cancel`, { reason: "Changed my mind" });
    expect(cancelled.body).toEqual({
      ...{ run_id: body.run_id, cancelled: true },
      ...{ command_id: "cancel", applied: true },
    });
    await expect.poll(() => api.runs.find(body.run_id)?.final_status).toBe("CANCELLED");
    expect((await api.ask("POST", `/runs/${body.run_id}/cancel`)).body.cancelled).toBe(false);
    expect((await api.ask("POST", "/runs/run_none/cancel")).status).toBe(404);
  });

  test("streams are limited per token, and a reader that disconnects frees one", async () => {
    api = newApi(() => new Promise(() => {}));
    const { body } = await start(api.addApproval());
    const follow = () =>
      api.send("GET", `/runs/${body.run_id}/events`, undefined, { accept: "text/event-stream" });
    const streams = await Promise.all(Array.from({ length: streamLimits().perPrincipal }, follow));
    const rejected = await follow();
    expect([rejected.status, rejected.headers.get("retry-after")]).toEqual([429, "5"]);
    await streams[0]?.body?.cancel();
    const next = await follow();
    expect(next.status).toBe(200);
    for (const stream of [...streams.slice(1), next]) await stream.body?.cancel();
    const probe = async () => {
      const { status, body } = await follow();
      await body?.cancel();
      return status;
    };
    await expect.poll(probe).toBe(200);
  });
});

describe("roles", () => {
  const Scribe = { name: "Scribe & Co", description: "Writes things down." };
  const path = `/roles/${encodeURIComponent(Scribe.name)}`;

  test("roles can be created, read, changed and deleted", async () => {
    const made = await api.ask("POST", "/roles", Scribe);
    expect([made.status, made.headers.get("location")]).toEqual([201, `/api/v1${path}`]);
    expectSchema("createRole", made.body);
    expect((await api.ask("POST", "/roles", Scribe)).body.error.code).toBe("name_taken");

    const read = await api.ask("GET", path);
    expect([read.body.role.description, read.headers.get("etag")]).toEqual(["Writes things down.", '"1"']);
    const changed = await api.ask("PUT", path, { ...Scribe, goals: ["Be brief"] }, { "if-match": '"1"' });
    expect(changed.body).toMatchObject({ revision: 2, role: { goals: ["Be brief"] } });
    expect((await api.ask("PUT", path, Scribe, { "if-match": '"1"' })).status).toBe(412);
    expect((await api.ask("PUT", path, { ...Scribe, name: "ApprovalAgent" })).status).toBe(409);

    expect((await api.send("DELETE", path)).status).toBe(204);
    expect((await api.ask("GET", path)).status).toBe(404);
  });

  test("unsupported parts of a role's schema are returned as findings", async () => {
    const output_schema = { type: "object", properties: { when: { $ref: "https://example.org/when.json" } } };
    const made = await api.ask("POST", "/roles", { name: "Timekeeper", output_schema });
    const { findings } = made.body;
    expect(findings).toEqual([
      { level: "info", at: "output_schema", message: expect.stringContaining("when") },
    ]);
    expect((await api.ask("GET", "/roles/Timekeeper")).body.findings).toEqual(findings);
    const saved = await api.ask("PUT", "/roles/Timekeeper", { name: "Timekeeper" });
    expect(saved.body.findings).toEqual([]);
  });

  test("a role in use is deleted only by force", async () => {
    const id = api.addApproval();
    const { status, body } = await api.ask("DELETE", "/roles/ApprovalAgent");
    expect([status, body.error.details.used_by]).toEqual([
      409,
      [{ kind: "workflow", id, name: "Approval", node_ids: ["node_get_approval"] }],
    ]);
    expect((await api.send("DELETE", "/roles/ApprovalAgent?force=true")).status).toBe(204);
  });

  test("an invalid role is rejected with the fields", async () => {
    const { status, body } = await api.ask("POST", "/roles", { name: "", goals: "be good" });
    expect([status, body.error.details.issues.map(({ at }: { at: string }) => at)]).toEqual([
      400,
      ["name", "goals"],
    ]);
    expect((await api.ask("POST", "/roles")).status).toBe(400);
  });

  test("roles are listed in pages, by name", async () => {
    const first = (await api.ask("GET", "/roles?limit=2")).body;
    expectSchema("listRoles", first);
    const rest = (await api.ask("GET", `/roles?limit=500&cursor=${first.next_cursor}`)).body;
    const names = [...first.roles, ...rest.roles].map(({ role }: { role: { name: string } }) => role.name);
    expect(names).toEqual(api.roles.list().map(({ role }) => role.name));
  });
});

test("crews and agents are listed by name, with their members' current settings", async () => {
  const writer = AgentConfig.parse({ agent_id: "careful", role_name: "Writer", backstory: "Once burnt" });
  api.agents.create("Careful", writer);
  api.agents.create("Bold", { ...writer, agent_id: "bold" });
  const member = AgentConfig.parse({ agent_id: "pen", agent_ref: "careful", role_name: "Editor" });
  api.crews.create("Desk", CrewConfig.parse({ crew_id: "desk", agents: [member] }));
  const { body: first } = await api.ask("GET", "/agents?limit=1");
  expectSchema("listAgents", first);
  const { body: rest } = await api.ask("GET", `/agents?cursor=${first.next_cursor}`);
  expect([...first.agents, ...rest.agents].map(({ id }: { id: string }) => id)).toEqual(["bold", "careful"]);
  const { body: crews } = await api.ask("GET", "/crews");
  expectSchema("listCrews", crews);
  expect(crews.crews[0].crew.agents).toEqual([{ ...writer, agent_id: "pen", agent_ref: "careful" }]);
  const one = await api.ask("GET", "/agents/careful");
  expect([one.body.agent, one.headers.get("etag")]).toEqual([writer, '"1"']);
  expect((await api.ask("GET", "/crews/desk")).body).toEqual(crews.crews[0]);
  expect((await api.ask("GET", "/crews/gone")).status).toBe(404);
});

describe("the OpenAPI file", () => {
  test("OpenAPI describes every exported form of a workflow, incomplete ones included", async () => {
    const draft = { graph_id: "g", nodes: { a: { id: "a", node_type: "agent_task" } }, edges: [] };
    const { body } = await api.ask("POST", "/workflows", { troupe: 1, workflow: draft });
    const file = (await api.ask("GET", `/workflows/${body.id}`)).body;
    expectSchema("exportWorkflow", file);
    const other = (await api.ask("GET", `/workflows/${api.addApproval()}?flavour=openhands`)).body;
    expectSchema("exportWorkflow", other);
    // And of those that come in: ids of edges are made up where they are missing.
    const bare = {
      nodes: { a: { node_type: "start_node" }, b: { node_type: "end_node" } },
      edges: [{ source_node_id: "a", target_node_id: "b" }],
    };
    expect((await api.ask("POST", "/workflows", bare)).status).toBe(201);
    const { anyOf } = (await api.ask("GET", "/openapi.json")).body.paths["/workflows"].post.requestBody
      .content["application/json"].schema;
    expect(anyOf.at(-1)).toEqual({ type: "object" });
  });

  test("OpenAPI describes every endpoint, and all its references resolve", async () => {
    const { body } = await api.ask("GET", "/openapi.json", undefined, { authorization: "" });
    expect(body.openapi).toBe("3.1.0");
    const described = Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(ENDPOINTS.map(({ method, path }) => `${method} ${path}`).sort());
    expect(Object.keys(body.components.schemas).sort()).toEqual(Object.keys(NAMED_SCHEMAS).sort());

    const references = [...JSON.stringify(body).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref ?? "");
    expect(references.length).toBeGreaterThan(20);
    const lost = references.filter((ref) => {
      let at: unknown = body;
      for (const part of ref.replace(/^#\//, "").split("/"))
        at = (at as Record<string, unknown> | undefined)?.[part];
      return !ref.startsWith("#/components/schemas/") || at === undefined;
    });
    expect(lost).toEqual([]);
  });

  test("OpenAPI names each operation and each path parameter once", async () => {
    const { body } = await api.ask("GET", "/openapi.json");
    const operations = Object.entries(
      body.paths as Record<
        string,
        Record<
          string,
          { operationId: string; parameters?: { in: string; name: string }[]; responses: object }
        >
      >,
    );
    const names = operations.flatMap(([, methods]) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(new Set(names).size).toBe(names.length);
    for (const [path, methods] of operations)
      for (const operation of Object.values(methods)) {
        const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
        const given = (operation.parameters ?? [])
          .filter((parameter) => parameter.in === "path")
          .map(({ name }) => name);
        expect(given).toEqual(wanted);
        expect(Object.keys(operation.responses).length).toBeGreaterThan(1);
      }
  });
});

function messagesIn(text: string): { id?: string; event?: string; data: Record<string, unknown> }[] {
  return text
    .split("\n\n")
    .filter((block) => block.includes("data: "))
    .map((block) => {
      const field = (name: string) =>
        block
          .split("\n")
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2);
      const [id, event] = [field("id"), field("event")];
      return {
        ...(id ? { id } : {}),
        ...(event ? { event } : {}),
        data: JSON.parse(field("data") ?? "null"),
      };
    });
}
