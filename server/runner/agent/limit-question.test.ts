import { expect, test } from "vitest";
import { agent, crewGraph, role } from "@/server/conformance/stage";
import { draw } from "@/server/domain/testing/drawing";
import { ModelError } from "@/server/llm/model";
import { fakeModels, newStage } from "../testing";

const graph = draw("start > a > b > end", {
  a: {
    node_type: "agent_task",
    output_keys: ["a"],
    config: {
      required_role: "Worker",
      task_description_template: "Work.",
      llm_config: {
        model: "large",
        fallback_models: [{ provider_id: "p", model: "small" }],
      },
    },
  },
  b: {
    node_type: "agent_task",
    output_keys: ["b"],
    config: { required_role: "Worker", task_description_template: "Work on." },
  },
});
const ASK = {
  config: { on_limit: "ask" as const, budget: { max_total_tokens: 20, warn_at: 0.8, mode: "hard" as const } },
};
const roles = [role("Worker")];

/** Models that keep to the budget of tokens, of which the small one always may be asked. */
const models = () =>
  fakeModels(({ budget, llm_config }) => {
    const { max_total_tokens: limit, spent_tokens } = budget!;
    if (llm_config.model !== "small" && limit !== null && spent_tokens + 30 > limit)
      throw new ModelError({
        code: "BUDGET",
        message: "The next call could exceed the budget.",
        retryable: false,
        user_action: "raise_limit",
        detail: { metric: "total_tokens", used: spent_tokens, limit },
      });
    return llm_config.model ?? "usual";
  });

type Stage = ReturnType<typeof newStage>;
async function asked(stage: Stage, id: string) {
  const open = () =>
    Object.values(stage.store.state(id)?.interactions ?? {}).find(({ status }) => status === "open");
  await expect.poll(open).toBeDefined();
  return open()!;
}
const give = (
  stage: Stage,
  id: string,
  open: Awaited<ReturnType<typeof asked>>,
  option: string,
  value?: object,
) =>
  stage.host.steering.answer(id, open.id, open.requested.fingerprint, {
    answer: "chosen",
    option,
    ...(value ? { value: value as never } : {}),
    by: "ann",
  });

test("a budget limit asks before it stops the run, and raising it continues the run", async () => {
  const stage = newStage({ models: models() });
  const id = stage.start(graph, { roles, ...ASK });
  const open = await asked(stage, id);
  expect(open.requested).toMatchObject({
    kind: "budget",
    title: "Worker reached a run limit",
    why: "The next model call could exceed the budget of 20 tokens. Raise the budget to continue.",
    args: { limit: "max_total_tokens", now: 20 },
    options: [
      { label: "Raise the limit", value: "raise" },
      { label: "Stop here", value: "stop" },
    ],
  });
  expect(open.requested.response_schema).toEqual({
    type: "object",
    properties: { to: { type: "integer", title: "New limit, in tokens", exclusiveMinimum: 20, default: 40 } },
  });
  expect(stage.store.find(id)).toMatchObject({ status: "waiting", waits_for: "person" });
  give(stage, id, open, "raise", { to: 500 });
  await stage.host.settled(id);
  const { run, state } = stage.store.state(id)!;
  expect([run.final_status, run.config.budget.max_total_tokens, state]).toEqual([
    "COMPLETED",
    500,
    expect.objectContaining({ a: "large", b: "usual" }),
  ]);
});

/** Models that keep to a budget in dollars, of which the dear one costs more than the other. */
const pricedModels = (cheaper: string | null) => ({
  ...fakeModels(({ budget, llm_config }) => {
    const { max_cost_usd: limit, spent_cost_usd } = budget!;
    if (llm_config.model !== "thrifty" && limit !== null && spent_cost_usd + 1 > limit)
      throw new ModelError({
        code: "BUDGET",
        message: "The next call could exceed the budget.",
        retryable: false,
        user_action: "raise_limit",
        detail: { metric: "cost_usd", used: spent_cost_usd, limit },
      });
    return llm_config.model ?? "usual";
  }),
  cheaperThan: () => (cheaper === null ? null : { provider_id: "q", model: cheaper, name: cheaper }),
});
const DOLLARS = {
  config: { on_limit: "ask" as const, budget: { max_cost_usd: 0.5, warn_at: 0.8, mode: "hard" as const } },
};

test("a run at its limit can continue with a cheaper model, decided per agent", async () => {
  const stage = newStage({ models: pricedModels("thrifty") });
  const id = stage.start(graph, { roles, ...DOLLARS });
  const open = await asked(stage, id);
  expect(open.requested.options).toEqual([
    { label: "Raise the limit", value: "raise" },
    { label: "Continue with thrifty (cheaper)", value: "cheaper_model" },
    { label: "Stop here", value: "stop" },
  ]);
  give(stage, id, open, "cheaper_model");
  await expect.poll(() => stage.store.state(id)!.state.a).toBe("thrifty");
  give(stage, id, await asked(stage, id), "stop");
  await stage.host.settled(id);
  expect(stage.store.state(id)!.run).toMatchObject({
    final_status: "INCOMPLETE",
    reason_code: "BUDGET",
    resumable: ["max_cost_usd"],
  });
});

test("a limit question offers no cheaper model if none is known", async () => {
  const stage = newStage({ models: pricedModels(null) });
  const id = stage.start(graph, { roles, ...DOLLARS });
  const { requested } = await asked(stage, id);
  expect(requested.options!.map(({ label }) => label)).toEqual(["Raise the limit", "Stop here"]);
});

test("raising a limit elsewhere answers the open limit question", async () => {
  const stage = newStage({ models: models() });
  const id = stage.start(graph, { roles, ...ASK });
  const open = await asked(stage, id);
  void stage.host.steering.raiseLimit(id, "max_total_tokens", 400, "bo");
  await stage.host.settled(id);
  const { run, interactions } = stage.store.state(id)!;
  expect([run.final_status, run.config.budget.max_total_tokens, interactions[open.id]!.answered]).toEqual([
    "COMPLETED",
    400,
    { interaction_id: open.id, answer: "chosen", option: "raise", value: { to: 400 }, by: "bo" },
  ]);
});

test.each([
  ["the node, over its role and its run", "ask", "stop", "stop", true],
  ["the node if it is set to stop", "stop", "ask", "ask", false],
  ["the role if the node sets nothing", undefined, "ask", "stop", true],
  ["the role if it is set to stop", undefined, "stop", "ask", false],
  ["the run if neither is set", undefined, undefined, "ask", true],
] as const)("on_limit is taken from %s", async (_who, node, ofRole, run, asks) => {
  const stage = newStage({ models: models() });
  const copy = structuredClone(graph);
  if (node) Object.assign(copy.nodes.a!.config, { on_limit: node });
  const id = stage.start(copy, {
    roles: [{ ...role("Worker"), ...(ofRole ? { on_limit: ofRole } : {}) }],
    config: { ...ASK.config, on_limit: run },
  });
  await expect.poll(() => ["waiting", "finished"].includes(stage.store.find(id)!.status)).toBe(true);
  expect(Object.keys(stage.store.state(id)!.interactions).length > 0).toBe(asks);
});

test.each([
  ["the crew, over its role and its run", "ask", "stop", "stop", true],
  ["the crew if it is set to stop", "stop", "ask", "ask", false],
  ["the role if the crew sets nothing", undefined, "ask", "stop", true],
] as const)("on_limit in a crew is taken from %s", async (_who, crew, ofRole, run, asks) => {
  const stage = newStage({ models: models() });
  const drawing = crewGraph(
    { process: "sequential", agents: [agent("ann")], ...(crew ? { on_limit: crew } : {}) },
    { tasks: [{ task_id: "t", description: "do t", assigned_agent: "ann" }] },
  );
  const id = stage.start(drawing, {
    roles: [{ ...role("ann"), ...(ofRole ? { on_limit: ofRole } : {}) }],
    config: { ...ASK.config, on_limit: run },
  });
  await expect.poll(() => ["waiting", "finished"].includes(stage.store.find(id)!.status)).toBe(true);
  const kinds = Object.values(stage.store.state(id)!.interactions).map(({ requested }) => requested.kind);
  expect(kinds).toEqual(asks ? ["budget"] : []);
});

test("a node set to stop ends at its limit without a question", async () => {
  const stage = newStage({ models: models() });
  const silent = structuredClone(graph);
  Object.assign(silent.nodes.a!.config, { on_limit: "stop" });
  const { state } = await stage.run(silent, { roles, ...ASK });
  expect([state.run.final_status, Object.keys(state.interactions)]).toEqual(["INCOMPLETE", []]);
});
