import { diffWordsWithSpace } from "diff";
import { expect, test, vi } from "vitest";
import { RoleDefinition } from "@/server/domain/agent/role";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { type Api, expectSchema, newApi } from "@/server/http-api/testing";
import { versionOf } from "@/server/runner/lifecycle/workflow-version";

vi.mock(import("diff"), async (original) => {
  const diff = await original();
  return { ...diff, diffWordsWithSpace: vi.fn(diff.diffWordsWithSpace) as never };
});

const saying = (text: string, more: Parameters<typeof draw>[1] = {}): WorkflowGraph =>
  draw("start > t > end", {
    t: { config: { set: { says: JSON.stringify(text) } }, output_keys: ["says"] },
    end: { input_keys: ["says"] },
    ...more,
  });

function newStage(api: Api = newApi()) {
  const id = api.workflows.create({ name: "Greeting", graph: saying("one") });
  const save = (graph: WorkflowGraph) =>
    api.workflows.save({ id, revision: api.workflows.find(id)!.revision, graph });
  return {
    api,
    id,
    save,
    publish: async (note?: string) =>
      (await api.ask("POST", `/workflows/${id}/versions`, note === undefined ? {} : { note })).body,
    async run(version?: number | "published" | "draft", of = id) {
      const { body, status } = await api.ask("POST", `/workflows/${of}/runs`, { version });
      if (status !== 202) return body.error;
      await expect.poll(() => api.runs.find(body.run_id)?.status).toBe("finished");
      const { workflow_version, output } = (await api.ask("GET", `/runs/${body.run_id}`)).body;
      return { id: body.run_id as string, workflow_version, says: output?.says };
    },
  };
}

test("a published version keeps running while the draft changes, until the next is published", async () => {
  const { api, id, save, publish, run } = newStage();
  expect(await run("published")).toMatchObject({ workflow_version: null, says: "one" });
  const first = await publish("Hello");
  expect(first).toMatchObject({ number: 1, note: "Hello", name: "Greeting", tests: null, created: true });
  expectSchema("publishWorkflow", first);
  save(saying("two"));
  expect(await run("published")).toMatchObject({ workflow_version: 1, says: "one" });
  expect(await run()).toMatchObject({ workflow_version: null, says: "two" });
  expect(await publish()).toMatchObject({ number: 2, created: true });
  expect(await publish()).toMatchObject({ number: 2, created: false });
  expect(await run("published")).toMatchObject({ workflow_version: 2, says: "two" });
  expect(await run(1)).toMatchObject({ workflow_version: 1, says: "one" });
  expect(await run(3)).toMatchObject({ code: "invalid_input", message: "Greeting has no version 3." });
  expect(api.audit.list({ kinds: ["workflow_published"] }).map(({ detail }) => detail)).toEqual([
    { workflow_id: id, workflow: "Greeting", version: 2 },
    { workflow_id: id, workflow: "Greeting", version: 1 },
  ]);
});

test("a draft that was changed meanwhile is not published", async () => {
  const { api, id, save } = newStage();
  const publish = (revision: number) => api.ask("POST", `/workflows/${id}/versions`, { revision });
  save(saying("two"));
  const { status, body } = await publish(1);
  expect([status, body.error.code]).toEqual([412, "changed_meanwhile"]);
  expect(api.versions.list(id)).toEqual([]);
  expect((await publish(2)).body).toMatchObject({ number: 1, created: true });
});

test("versions are listed in pages, newest first, and read as files", async () => {
  const { api, id, save, publish } = newStage();
  for (const text of ["one", "two", "three"]) {
    save(saying(text));
    await publish(text);
  }
  const page = (await api.ask("GET", `/workflows/${id}/versions?limit=2`)).body;
  expectSchema("listWorkflowVersions", page);
  expect(page.versions.map(({ number }: { number: number }) => number)).toEqual([3, 2]);
  const rest = (await api.ask("GET", `/workflows/${id}/versions?cursor=${page.next_cursor}`)).body;
  expect(rest).toMatchObject({ versions: [{ number: 1, note: "one" }], next_cursor: null });
  const { body: file } = await api.ask("GET", `/workflows/${id}/versions/2`);
  expectSchema("getWorkflowVersion", file);
  const { body: copy } = await api.ask("POST", "/workflows", file);
  expect(api.workflows.find(copy.id)!.graph).toMatchObject({ nodes: saying("two").nodes });
  expect((await api.ask("GET", `/workflows/${id}/versions/4`)).status).toBe(404);
  expect((await api.ask("GET", `/workflows/wf_none/versions`)).status).toBe(404);
});

test("a draft that could not run is not published, and its problems are named", async () => {
  const { api, id, save } = newStage();
  save(draw("start > a > end", { a: { node_type: "agent_task", config: { required_role: "Nobody" } } }));
  const { status, body } = await api.ask("POST", `/workflows/${id}/versions`, {});
  expect([status, body.error.code]).toEqual([422, "workflow_has_problems"]);
  expect(body.error.details.problems).toMatchObject([{ at: { id: "a" } }]);
  expect(api.versions.list(id)).toEqual([]);
});

test("a version keeps its roles and its permissions, whatever becomes of them", async () => {
  const { api, id, save, publish, run } = newStage();
  api.roles.put(RoleDefinition.parse({ name: "Host", description: "Greet" }));
  save(
    saying("one", {
      t: {
        node_type: "agent_task",
        config: { required_role: "Host", task_description_template: "Greet" },
        output_keys: ["says"],
      },
    }),
  );
  await publish();
  api.roles.put({ ...api.roles.find("Host")!.role, description: "Say goodbye" });
  api.workflows.withhold(id, ["tool:web_search"]);
  const started = await run("published");
  expect(api.runs.state(started.id)!.roles).toMatchObject([{ name: "Host", description: "Greet" }]);
  const { body } = await api.ask("GET", `/workflows/${id}/versions/1/diff/draft`);
  expectSchema("compareWorkflowVersions", body);
  expect(body.differences).toEqual([
    {
      kind: "changed",
      at: { kind: "role", id: "Host" },
      text: "Role “Host”",
      details: "Description",
      texts: [
        {
          label: "Description",
          pieces: [
            { kind: "removed", text: "Greet" },
            { kind: "added", text: "Say goodbye" },
          ],
        },
      ],
    },
    {
      kind: "removed",
      at: { kind: "permission", id: "tool:web_search" },
      text: "Permission “tool:web_search”",
      texts: [],
    },
  ]);
});

test("a comparison of many long texts without common words does bounded work", async () => {
  const { api, id, save, publish } = newStage();
  const ids = Array.from({ length: 40 }, (_, k) => `n${k}`);
  const textOf = (word: string) => Array.from({ length: 1_500 }, (_, k) => `${word}${k}`).join(" ");
  const graphOf = (word: string) => {
    const config = { method: "POST", url: "https://a.example", body: textOf(word) };
    const node = { node_type: "http_request", config };
    return draw(`start > ${ids.join(" > ")} > end`, Object.fromEntries(ids.map((n) => [n, node])));
  };
  save(graphOf("a"));
  await publish();
  save(graphOf("b"));
  vi.mocked(diffWordsWithSpace).mockClear();
  const { body } = await api.ask("GET", `/workflows/${id}/versions/1/diff/draft`);
  expect(body.differences).toHaveLength(40);
  for (const { texts } of body.differences)
    expect(texts[0].pieces.map(({ kind }: { kind: string }) => kind)).toEqual(["removed", "added"]);
  // The work grows with the square of the edits, and with the length of the texts.
  const { calls } = vi.mocked(diffWordsWithSpace).mock;
  const edits = calls.map(([, , options]) => (options as { maxEditLength: number }).maxEditLength);
  expect(edits.reduce((sum, most) => sum + most ** 2, 0)).toBeLessThanOrEqual(200_000);
  expect(calls.reduce((sum, [a, b]) => sum + a.length + b.length, 0)).toBeLessThanOrEqual(200_000);
});

test("what is blocked stops the published version at once, wherever it starts", async () => {
  const { api, id, save, publish, run } = newStage();
  save(draw("start > h > end", { h: { node_type: "http_request", config: { url: "https://a.test/x" } } }));
  await publish();
  const calling = draw("start > sub > end", {
    sub: { node_type: "sub_workflow", config: { workflow_id: id } },
  });
  const outer = api.workflows.create({ name: "Outer", graph: calling });
  const { body: trigger } = await api.ask("POST", `/workflows/${id}/triggers`, { kind: "webhook" });
  const { id: before } = await run(1);
  const change = (sent: object) => api.ask("POST", `/workflows/${id}/capabilities`, sent);
  const statuses = async () => {
    const asked = [
      [`/workflows/${id}/runs`, { version: 1 }],
      [`/workflows/${id}/runs`, { version: "published" }],
      [`/workflows/${outer}/runs`, {}],
      [`/runs/${before}/fork`, { graph: "published" }],
    ] as const;
    return Promise.all(asked.map(async ([path, body]) => (await api.ask("POST", path, body)).status));
  };
  expect(await statuses()).toEqual([202, 202, 202, 202]);
  for (const key of ["tool:http_request", "host:a.test"]) {
    await change({ withhold: [key] });
    expect(await statuses()).toEqual([422, 422, 422, 422]);
    await api.ask("POST", `/triggers/${trigger.id}/test`, {});
    const { fires } = (await api.ask("GET", `/triggers/${trigger.id}/fires`)).body;
    expect(fires[0]).toMatchObject({ run_id: null, reason: expect.stringContaining("isn't allowed") });
    await change({ allow: [key] });
    expect(await statuses()).toEqual([202, 202, 202, 202]);
  }
});

test("what only the published version requests can be blocked, and stays blocked", async () => {
  const { api, id, save, publish, run } = newStage();
  save(draw("start > h > end", { h: { node_type: "http_request", config: { url: "https://a.test/x" } } }));
  await publish();
  save(draw("start > h > end", { h: { node_type: "http_request", config: { url: "https://b.test/x" } } }));
  const at = `/workflows/${id}/capabilities`;
  await api.ask("POST", at, { withhold: ["host:a.test"] });
  await api.ask("POST", at, { withhold: ["host:b.test"] });
  await api.ask("POST", at, { allow: ["host:b.test"] });
  const { capabilities } = (await api.ask("GET", at)).body;
  expect(capabilities.map(({ key, allowed }: { key: string; allowed: boolean }) => [key, allowed])).toEqual([
    ["tool:http_request", true],
    ["host:b.test", true],
    ["host:a.test", false],
  ]);
  expect(await run("published")).toMatchObject({ code: "workflow_has_problems" });
  expect(await run("draft")).toMatchObject({ workflow_version: null });
  const files = [{ path: "greeting.json", text: JSON.stringify(api.workflows.find(id)!.graph) }];
  expect((await api.ask("POST", "/imports", { files, over: id, confirm: true })).status).toBe(200);
  await api.ask("POST", at, { allow: ["tool:http_request", "host:b.test"] });
  expect(await run("published")).toMatchObject({ code: "workflow_has_problems" });
  expect((await api.ask("PUT", at, { allow: ["tool:http_request", "host:a.test"] })).status).toBe(200);
  expect(await run("published")).toMatchObject({ workflow_version: 1 });
});

test("what is allowed in the draft later doesn't apply to the published version", async () => {
  const { api, id, publish } = newStage();
  const { graph } = api.workflows.find(id)!;
  const { nodes } = draw("start > h > end", {
    h: { node_type: "http_request", config: { url: "https://a.test/x" } },
  });
  const foreign = { texts: [1], allowed: ["a.test", "b.test"] };
  const version = { graph: { ...graph, nodes }, roles: [], withheld: ["tool:http_request"], foreign };
  await publish();
  api.versions.publish(id, { ...version, name: "Greeting", note: "", by: "ann" });
  const { status } = await api.ask("POST", `/workflows/${id}/runs`, { version: 2 });
  expect(status).toBe(422);
  api.workflows.withhold(id, ["host:b.test", "allowed:host:c.test"]);
  expect(versionOf(api, id, "published")).toMatchObject({
    withheld: ["tool:http_request", "host:b.test"],
    published: { foreign: { texts: [1], allowed: ["a.test"] } },
  });
});

test("a rollback publishes a version again at once and makes it the draft", async () => {
  const { api, id, save, publish, run } = newStage();
  await publish();
  save(saying("two"));
  await publish();
  save(saying("draft"));
  const { body } = await api.ask("POST", `/workflows/${id}/versions/1/restore`, { publish: true });
  expectSchema("restoreWorkflowVersion", body);
  expect(body).toMatchObject({ version: { number: 3, created: true }, revision: 4 });
  expect(await run("published")).toMatchObject({ workflow_version: 3, says: "one" });
  expect(api.workflows.find(id)!.graph).toEqual(saying("one"));
  const { restore_points } = (await api.ask("GET", `/workflows/${id}/restore-points`)).body;
  expect(restore_points).toMatchObject([{ reason: "restore" }]);
  const point = `/workflows/${id}/restore-points/${restore_points[0].id}/restore`;
  expect((await api.ask("POST", point)).body).toEqual({ revision: 5 });
  expect(api.workflows.find(id)!.graph).toEqual(saying("draft"));
  expect(await run("published")).toMatchObject({ workflow_version: 3 });
  expect((await api.ask("POST", `/workflows/${id}/restore-points/9999/restore`)).status).toBe(404);
});

test("a rollback whose draft can't be replaced publishes nothing", async () => {
  const { api, id, save, publish } = newStage();
  await publish();
  save(saying("two"));
  await publish();
  api.workflows.points.keep = () => {
    throw new Error("No space left.");
  };
  const { status } = await api.ask("POST", `/workflows/${id}/versions/1/restore`, { publish: true });
  expect(status).toBe(500);
  expect(api.versions.newest(id)).toMatchObject({ number: 2 });
  expect(api.workflows.find(id)!.graph).toEqual(saying("two"));
});

test("replacing a workflow over HTTP leaves a restore point", async () => {
  const { api, id } = newStage();
  await api.ask("PUT", `/workflows/${id}`, saying("two"));
  expect(api.workflows.points.list(id)).toMatchObject([{ reason: "replace" }]);
});

test("a sub-workflow runs its published version, and its draft while nothing is published", async () => {
  const { api, id, save, publish, run } = newStage();
  const outer = api.workflows.create({
    name: "Outer",
    graph: draw("start > sub > end", {
      sub: { node_type: "sub_workflow", config: { workflow_id: id }, output_keys: ["says"] },
      end: { input_keys: ["says"] },
    }),
  });
  const child = async () => {
    const parent = await run("draft", outer);
    const [called] = api.runs.children(parent.id, { limit: 1 });
    return { says: parent.says, version: called?.workflow_version };
  };
  expect(await child()).toEqual({ says: "one", version: null });
  await publish();
  save(saying("two"));
  expect(await child()).toEqual({ says: "one", version: 1 });
  // Neither do checks look at the draft: one that can't run, or asks for more, keeps no other workflow from running.
  save(draw("start > a > end", { start: { output_keys: ["more"] }, a: { node_type: "agent_task" } }));
  expect(await child()).toEqual({ says: "one", version: 1 });
  const { body } = await api.ask("POST", `/workflows/${outer}/validate`);
  expect(body.problems).toEqual([]);
});

test("a fork continues with the draft or with the published version", async () => {
  const { api, id, save, publish, run } = newStage();
  await publish();
  save(saying("two"));
  const { id: original } = await run(1);
  const forked = async (graph: string) => {
    const { body } = await api.ask("POST", `/runs/${original}/fork`, { graph });
    await expect.poll(() => api.runs.find(body.run_id)?.status).toBe("finished");
    const { workflow_version, output } = (await api.ask("GET", `/runs/${body.run_id}`)).body;
    return [workflow_version, output.says, api.runs.state(body.run_id)!.run.workflow_version];
  };
  expect(await forked("latest")).toEqual([null, "two", undefined]);
  save(saying("three"));
  await publish();
  expect(await forked("published")).toEqual([2, "three", 2]);
  expect(await forked("original")).toEqual([1, "one", 1]);
  expect(api.workflows.find(id)!.graph).toEqual(saying("three"));
});

test("publishing runs the workflow's tests in the background and keeps their result", async () => {
  const { api, id, save, publish } = newStage();
  const expecting = (value: string) => ({
    name: `Says ${value}`,
    input: {},
    expect: [{ kind: "state", when: `state.says == '${value}'` }],
  });
  const created = await api.ask("POST", `/workflows/${id}/tests`, expecting("one"));
  expect(created.status).toBe(201);
  const settled = async (number: number) => {
    await expect.poll(() => api.versions.find(id, number)?.tests?.status).not.toBe("running");
    return (await api.ask("GET", `/workflows/${id}/versions`)).body.versions[0].tests;
  };
  expect(await publish()).toMatchObject({ tests: { status: "running", total: 1 } });
  expect(await settled(1)).toEqual({ status: "passed", total: 1, passed: 1, failed: [] });
  save(saying("two"));
  await publish();
  expect(await settled(2)).toEqual({ status: "failed", total: 1, passed: 0, failed: ["Says one"] });
});

test("while versions are published, each of many runs is entirely on one of them", async () => {
  const { api, id, save, publish } = newStage();
  const pair = (n: number) =>
    draw("start > a > b > end", {
      a: { config: { set: { a: String(n) } }, output_keys: ["a"] },
      b: { config: { set: { b: `state.a * 1000 + ${n}` } }, output_keys: ["b"] },
      end: { input_keys: ["a", "b"] },
    });
  const runs: string[] = [];
  for (let n = 1; n <= 10; n++) {
    save(pair(n));
    const [, ...started] = await Promise.all([
      publish(),
      ...Array.from({ length: 5 }, () => api.ask("POST", `/workflows/${id}/runs`, { version: "published" })),
    ]);
    // What is saved after the start changes none of them.
    save(pair(1000 + n));
    runs.push(...started.map(({ body }) => body.run_id as string));
  }
  for (const run of runs) {
    await expect.poll(() => api.runs.find(run)?.status).toBe("finished");
    const { run: about, graph } = api.runs.state(run)!;
    const version = api.versions.find(id, about.workflow_version!)!;
    expect(graph).toEqual(version.graph);
    const n = about.workflow_version!;
    expect(about.output).toEqual({ a: n, b: n * 1000 + n });
  }
});

test("a run that waits keeps its version while others are published and the draft changes", async () => {
  const { api, id, save, publish } = newStage();
  const asking = (text: string) =>
    draw("start > gate > t > end", {
      gate: {
        node_type: "user_input",
        config: { schema: { type: "object", properties: { name: { type: "string" } } } },
        output_keys: ["name"],
      },
      t: { config: { set: { says: JSON.stringify(text) } }, output_keys: ["says"] },
      end: { input_keys: ["says"] },
    });
  save(asking("one"));
  await publish();
  const { run_id } = (await api.ask("POST", `/workflows/${id}/runs`, { version: "published" })).body;
  await expect.poll(() => api.runs.find(run_id)?.waits_for).toBe("person");
  save(asking("two"));
  await publish();
  save(asking("draft"));
  await api.ask("POST", `/workflows/${id}/versions/1/restore`, { publish: true });
  const [question] = Object.values(api.runs.state(run_id)!.interactions);
  const { interaction_id, fingerprint } = question!.requested;
  const answer = { interaction_id, fingerprint, answer: "given", value: { name: "Ann" } };
  expect((await api.ask("POST", `/runs/${run_id}/answers`, answer)).status).toBeLessThan(300);
  await expect.poll(() => api.runs.find(run_id)?.status).toBe("finished");
  expect(api.runs.state(run_id)!.run).toMatchObject({ workflow_version: 1, output: { says: "one" } });
});
