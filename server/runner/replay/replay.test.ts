import { expect, test } from "vitest";
import { z } from "zod";
import { RoleDefinition } from "@/server/domain/agent/role";
import type { JsonObject } from "@/server/domain/base/values";
import { missOf } from "@/server/domain/run/request-difference";
import { draw } from "@/server/domain/testing/drawing";
import { defineTool } from "@/server/tools/define";
import { cases, graphOf, modelsOf, roles } from "../crew/testing";
import { requestsOf } from "../fork/fork";
import { cutAt, endAt, fakeModels, fakeTools, newStage } from "../testing";

type Stage = ReturnType<typeof newStage>;

const look = (description: string) =>
  fakeTools([
    defineTool({
      name: "look",
      description,
      input: z.object({}),
      source: "builtin",
      risk: "LOW",
      read_only: true,
      execute: () => "seen",
    }),
  ]);
const worker = RoleDefinition.parse({ name: "Worker", tools: ["look"] });
const agent = (more: JsonObject = {}): JsonObject => ({
  node_type: "agent_task",
  config: { required_role: "Worker", task_description_template: "Look around" },
  ...more,
});

/** The same runs on a server whose tool says something else of itself, so that models are asked something else. */
const later = (stage: Stage) => {
  const models = fakeModels(() => "made anew");
  return { models, stage: newStage({ db: stage.db, models, tools: look("Looks closely") }) };
};

const replay = async (stage: Stage, run_id: string) => {
  const { run_id: id } = stage.host.fork({
    run_id,
    patches: {},
    graph: "original",
    by: "ann",
    trigger: "test",
    replay: "strict",
  });
  await expect.poll(() => stage.store.find(id)!.status).toBe("finished");
  return { id, state: stage.store.state(id)! };
};

test.each([
  ["an error edge", "start > a > end; a !> caught > end", {}],
  [
    "a retry of the node",
    "start > a > end",
    { retry: { max_attempts: 3, retry_on: ["NOT_RECORDED", "CONFIG"] } },
  ],
  ["a default output", "start > a > b > end", { on_error: "continue", default_output: { a: "none" } }],
  ["a skipped branch", "start > a > b > end", { on_error: "skip_branch" }],
  ["a parallel branch", "start > a > end; start > w > c > end", {}],
])(
  "a strict replay that reaches an unrecorded model or tool call ends there despite %s",
  async (_, text, more) => {
    const stage = newStage({ tools: look("Looks"), models: fakeModels(() => "found") });
    const { id, state } = await stage.run(draw(text, { a: agent(more) }), { roles: [worker] });
    expect(state.run.final_status).toBe("COMPLETED");
    const { models, stage: now } = later(stage);
    const missed = await replay(now, id);
    const events = now.store.events(missed.id, 0, 1e6);
    expect(
      events
        .slice(-2)
        .map(({ type }) => type)
        .filter((type) => type !== "node_cancelled"),
    ).toContain("run_finished");
    expect(events.filter(({ type }) => type === "node_retry_scheduled" || type === "edge_skipped")).toEqual(
      [],
    );
    const { run, activations } = missed.state;
    expect([run.final_status, run.reason_code, activations["a#1"]!.status]).toEqual([
      "ERROR",
      "NOT_RECORDED",
      "failed",
    ]);
    expect(activations["a#1"]!.error).toEqual(run.error);
    expect(missOf(run.error)).toEqual({
      kind: "model",
      nearest: 0,
      changes: [{ path: "tools[0].description", recorded: "Looks", asked: "Looks closely" }],
      more: 0,
      sentence:
        "Its call to a model differs from the closest recorded one: at tools[0].description, recorded: “Looks”; requested: “Looks closely”.",
    });
    expect(models.requests).toEqual([]);
  },
);

test("a strict replay with an unrecorded call resumes after a crash at any turn and ends the same", async () => {
  const stage = newStage({ tools: look("Looks") });
  const { id } = await stage.run(draw("start > w > a > end; a !> c > end", { a: agent() }), {
    roles: [worker],
  });
  const { stage: now } = later(stage);
  const missed = await replay(now, id);
  const { turns } = now.store.journal(missed.id);
  expect(turns.at(-1)!.events.map(({ type }) => type)).toEqual(["node_failed", "run_finished"]);
  for (let kept = 1; kept < turns.length; kept++) {
    // The original stays whole.
    const db = cutAt(now, missed.id, 1e6);
    db.$client.prepare("delete from run_turns where run_id = ? and turn >= ?").run(missed.id, kept);
    endAt(db, missed.id, kept);
    const again = later({ ...now, db }).stage;
    again.host.recover();
    await expect.poll(() => again.store.find(missed.id)!.status).toBe("finished");
    const { error } = again.store.state(missed.id)!.run;
    expect([kept, error]).toEqual([kept, missed.state.run.error]);
  }
});

test("the requests of a run are rebuilt from its log word for word", async () => {
  const models = modelsOf(cases.parallel!.answer);
  const stage = newStage({ models });
  const { id, state } = await stage.run(graphOf(cases.parallel!), { roles });
  expect(state.run.final_status).toBe("COMPLETED");
  const recorded = stage.store.answers(id).flatMap(({ result }) => (result.ok ? (result.request ?? []) : []));
  const made = requestsOf(stage.store, id);
  expect(made.map(({ request }) => request)).toEqual(recorded);
  const messages = made.flatMap(({ kind, asked }) =>
    kind === "model" ? JSON.stringify((asked as JsonObject).messages) : [],
  );
  expect(messages.toSorted()).toEqual(models.asked.toSorted());
});
