import { expect, test } from "vitest";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import type { Models } from "@/server/llm/model";
import { newScriptedModels } from "@/server/llm/scripted";
import { findTemplate } from "@/server/templates";
import { readyToRun } from "./launch";

const graph = structuredClone(findTemplate("approval")!.graph);
const agent = Object.values(graph.nodes).find(({ node_type }) => node_type === "agent_task")!;
const config = { budget: { max_cost_usd: 1, warn_at: 0.8, mode: "hard" as const } };
/** Models of which only these have no known price; the standard one has the name "". */
const models = (unknown: readonly string[]) => ({
  ...newScriptedModels(),
  describe: (choice: { model?: string | undefined } = {}) => ({
    provider_id: "p",
    name: "P",
    model: choice.model ?? "",
    simulated: false,
    price_known: !unknown.includes(choice.model ?? ""),
  }),
});
const start = (unknown: readonly string[], given: Partial<typeof config> = config) =>
  readyToRun(
    graph,
    builtinRoles,
    { input: { user_request: "Two days off" }, config: given },
    models(unknown),
  );

test("a run starts with the known context windows of its models, fallback models included", () => {
  const drawn = structuredClone(graph);
  const node = Object.values(drawn.nodes).find(({ node_type }) => node_type === "agent_task")!;
  Object.assign(node.config, {
    llm_config: { model: "small", fallback_models: [{ provider_id: "p", model: "large" }] },
  });
  const sizes: Record<string, number> = { "": 32_000, small: 8_000, large: 200_000 };
  const sized = {
    ...newScriptedModels(),
    describe: ({ model = "" }: { model?: string | undefined } = {}) => ({
      provider_id: "p",
      name: "P",
      model,
      simulated: false,
      price_known: true,
      context_window: sizes[model]!,
    }),
  };
  expect(
    readyToRun(drawn, builtinRoles, { input: { user_request: "Two days off" } }, sized).context_windows,
  ).toEqual({ "/": 32_000, "/small": 8_000, "p/large": 200_000 });
});
test("a dollar budget requires the price of every model in the workflow", () => {
  expect(() => start([""])).toThrow("A dollar budget can't be enforced: the price of this model is unknown.");
  expect(start(["mystery"]).config.budget.max_cost_usd).toBe(1);
  expect(start([""], {}).config.budget.max_cost_usd ?? null).toBeNull();
  Object.assign(agent.config, { llm_config: { model: "mystery" } });
  expect(() => start(["mystery"])).toThrow(
    "A dollar budget can't be enforced: the price of this model is unknown.",
  );
  expect(start(["another"]).config.budget.max_cost_usd).toBe(1);
  Object.assign(agent.config, {
    llm_config: { model: "known", fallback_models: [{ provider_id: "p", model: "mystery" }] },
  });
  expect(() => start(["mystery"])).toThrow(
    "A dollar budget can't be enforced: the price of this model is unknown.",
  );
});

test("the provider summary names the workflow's models, not the default model", () => {
  const drawn = structuredClone(findTemplate("approval")!.graph);
  const named = {
    ...newScriptedModels(),
    describe: ({
      provider_id = "offline",
      model = "demo",
    }: {
      provider_id?: string;
      model?: string;
    } = {}) => ({
      provider_id,
      name: provider_id,
      model,
      simulated: provider_id === "offline",
      price_known: true,
    }),
  } as Models;
  const summary = () =>
    readyToRun(drawn, builtinRoles, { input: { user_request: "Two days off" } }, named).provider_summary;
  expect(summary()).toEqual({ name: "offline", model: "demo", simulated: true });
  for (const node of Object.values(drawn.nodes))
    if (node.node_type === "agent_task")
      Object.assign(node.config, { llm_config: { provider_id: "real", model: "big" } });
  expect(summary()).toEqual({ name: "real", model: "big", simulated: false });
});

test("a breakpoint with an invalid condition is rejected at the start with the reason", () => {
  const breakpoints = [{ on: "node_start" as const, condition: "state.n ==" }];
  expect(() =>
    readyToRun(
      graph,
      builtinRoles,
      { input: { user_request: "Two days off" }, config: { breakpoints } },
      models([]),
    ),
  ).toThrow('Can\'t read the breakpoint condition "state.n ==": The expression is incomplete.');
});
