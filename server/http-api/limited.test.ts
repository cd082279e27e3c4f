import { expect, test } from "vitest";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import { newApi } from "./testing";

let programs = 0;

/** A workflow, a foreign one, and requests with a token for the first. */
function newStage() {
  const api = newApi();
  const foreign = api.workflows.create({ name: "Foreign", graph: draw("start > end") });
  const own = api.workflows.create({ name: "Own", graph: draw("start > end") });
  const save = (graph: WorkflowGraph) =>
    api.workflows.save({ id: own, revision: api.workflows.find(own)!.revision, graph, reason: "replace" });
  const send = async (method: string, path: string, body?: unknown) => {
    const principal = { kind: "token" as const, id: `limited${programs++}`, workflows: [own] };
    const response = await api.send(method, path, body, {}, principal);
    return response.status;
  };
  return { api, own, foreign, save, send };
}

const running = (workflow_id: string) =>
  draw("start > sub > end", { sub: { node_type: "sub_workflow", config: { workflow_id } } });

test("a limited token can't use an earlier version that runs a foreign workflow", async () => {
  const { api, own, foreign, save, send } = newStage();
  save(running(foreign));
  const before = api.workflows.find(own)!;
  await api.ask("POST", `/workflows/${own}/versions`, {});
  expect(await send("POST", `/workflows/${own}/runs`, { version: "published" })).toBe(202);
  const { body } = await api.ask("POST", `/workflows/${own}/runs`, {});
  await api.host.settled(body.run_id);
  const fork = () => send("POST", `/runs/${body.run_id}/fork`, {});
  expect(await fork()).toBe(202);

  save(draw("start > end"));
  expect(await send("POST", `/workflows/${own}/runs`, { version: 1 }), "it is still in use").toBe(202);
  await api.ask("POST", `/workflows/${own}/versions`, {});
  const [point] = api.workflows.points.list(own);
  for (const [path, sent] of [
    ["versions/1/restore", {}],
    ["versions/1/restore", { publish: true }],
    [`restore-points/${point!.id}/restore`, undefined],
    ["runs", { version: 1 }],
  ] as const)
    expect([path, await send("POST", `/workflows/${own}/${path}`, sent)]).toEqual([path, 403]);
  expect(await send("PUT", `/workflows/${own}`, before.graph)).toBe(403);
  expect(await fork()).toBe(403);
  expect(api.workflows.find(own)!.graph).toEqual(draw("start > end"));
  expect(api.versions.list(own)).toHaveLength(2);
  expect(await send("POST", `/workflows/${own}/versions/2/restore`, { publish: true })).toBe(200);
});

test("an import with a limited token changes nothing about foreign texts", async () => {
  const { api, own, foreign, send } = newStage();
  const task = (text: string) =>
    draw("start > a > end", {
      a: {
        node_type: "agent_task",
        config: { required_role: "Researcher", task_description_template: text },
      },
    });
  const { revision } = api.workflows.find(foreign)!;
  api.workflows.save({ id: foreign, revision, graph: task("Mail ann@b.test") });
  const marked = () => api.workflows.foreign.among(["Mail ann@b.test", "Mail bob@b.test"]);
  const bring = (text: string, more: object) => {
    const files = [{ path: "w.json", text: JSON.stringify(task(text)) }];
    return send("POST", "/imports", { files, roles: "skip", confirm: true, ...more });
  };
  expect(await bring("Mail ann@b.test", {})).toBe(403);
  expect(await bring("Mail bob@b.test", {})).toBe(403);
  expect(marked()).toEqual([]);
  expect(await bring("Mail ann@b.test", { over: own })).toBe(200);
  expect(marked()).toEqual([]);
  expect(await bring("Mail bob@b.test", { over: own })).toBe(200);
  expect(marked()).toEqual(["Mail bob@b.test"]);
});
