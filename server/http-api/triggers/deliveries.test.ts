import { expect, test, vi } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { type Api, newApi } from "../testing";

const letter = (wish: string, more = "end") =>
  draw(`start > write > ${more}`, {
    start: { output_keys: ["name"] },
    write: {
      node_type: "agent_task",
      config: { required_role: "Writer", task_description_template: `${wish} {{ name }}` },
      input_keys: ["name"],
      output_keys: ["text"],
    },
    sign: { config: { set: { signed: "state.text + ', Troupe'" } }, output_keys: ["signed"] },
  });

/** A workflow with three deliveries, each with a finished run. */
async function delivered() {
  let calls = 0;
  const api = newApi(() => `Letter ${++calls}`);
  const id = api.workflows.create({ name: "Letters", graph: letter("Greet") });
  const { body: trigger } = await api.ask("POST", `/workflows/${id}/triggers`, { kind: "webhook" });
  for (const name of ["Ann", "Ben", "Cy"])
    await api.ask("POST", `/triggers/${trigger.id}/test`, { input: { name } });
  await vi.waitFor(() =>
    expect(api.runs.list({ workflow_id: id, limit: 9 }).map(({ status }) => status)).toEqual(
      Array<string>(3).fill("finished"),
    ),
  );
  const redraw = (graph: ReturnType<typeof letter>) => {
    const { name, revision } = api.workflows.find(id)!;
    api.workflows.save({ id, name, graph, revision });
  };
  return { api, id, redraw, count: () => calls, replay: replayer(api, String(trigger.id)) };
}
const replayer =
  (api: Api, id: string) =>
  async (body: JsonObject = {}) =>
    (await api.ask("POST", `/triggers/${id}/replay`, body)) as {
      status: number;
      body: { deliveries: JsonObject[]; estimate_usd: number; spending?: JsonObject };
    };

test("an unchanged draft does the same with past deliveries, and nothing is called or stored", async () => {
  const { api, id, count, replay } = await delivered();
  const { status, body } = await replay();
  expect(status).toBe(200);
  expect(body.deliveries).toHaveLength(3);
  for (const one of body.deliveries) {
    expect(one).toMatchObject({ status: "same", sentence: "" });
    expect(one.draft).toEqual(one.recorded);
  }
  expect(body).toMatchObject({ estimate_usd: 0 });
  expect((await replay({ limit: 2 })).body.deliveries).toHaveLength(2);
  expect(count()).toBe(3);
  expect(api.runs.list({ workflow_id: id, limit: 9 })).toHaveLength(3);
});

test("a changed step is shown next to what happened, with the recorded answers", async () => {
  const { redraw, count, replay } = await delivered();
  redraw(letter("Greet", "sign > end"));
  const { body } = await replay();
  expect(
    body.deliveries.map(({ status, draft }) => [status, (draft as { output: JsonObject }).output.signed]),
  ).toEqual([3, 2, 1].map((k) => ["different", `Letter ${k}, Troupe`]));
  expect(count()).toBe(3);
});

test("a changed prompt needs new calls: their cost is shown before, and real models stay below the cap", async () => {
  const { redraw, count, replay } = await delivered();
  redraw(letter("Thank"));
  const free = (await replay()).body;
  expect(free.deliveries.map(({ status, draft }) => [status, draft])).toEqual(
    Array<unknown>(3).fill(["unanswered", null]),
  );
  expect(free.estimate_usd).toBeCloseTo(0.003);
  expect(count()).toBe(3);

  expect((await replay({ real: true })).status).toBe(400);
  const { body } = await replay({ real: true, max_cost_usd: 1 });
  expect(body.deliveries.map(({ status }) => status)).toEqual(Array<string>(3).fill("different"));
  expect(body.spending).toMatchObject({ max_cost_usd: 1, stopped: null });
  expect(count()).toBe(6);
});
