import { expect, test } from "vitest";
import { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import { draw } from "@/server/domain/testing/drawing";
import { newDemoModels } from "@/server/llm/demo-models";
import { ModelError } from "@/server/llm/model";
import { newScratchTools } from "@/server/scratch-tools";
import { fakeModels, fakeTools, role } from "../testing";
import type { TestParts } from "./answering";
import { compare } from "./comparison";
import { SpendingCap } from "./spending-cap";

const graph = (model: string) =>
  draw("start > a > end", {
    a: {
      node_type: "agent_task",
      config: { required_role: "Writer", task_description_template: "Write", llm_config: { model } },
      output_keys: ["text"],
    },
  });
const variant = (name: string) => ({
  name,
  tested: { name: "Letters", graph: graph(name), roles: [role("Writer")] },
});
const tests = ["one", "two", "three"].map((id) => ScenarioTest.parse({ id, name: id }));

/** Real models by name, each at its price of a call in US dollars; null: nobody knows it. They hold budgets as the model layer does. */
function priced(prices: Readonly<Record<string, number | null>>): TestParts {
  const models = fakeModels(() => "Dear Oslo");
  const priceOf = (model = "") => prices[model] ?? null;
  return {
    models: {
      async complete(request, io) {
        const price = priceOf(request.llm_config.model);
        const { max_cost_usd = null, spent_cost_usd = 0 } = request.budget ?? {};
        if (max_cost_usd !== null && price !== null && spent_cost_usd + price > max_cost_usd)
          throw new ModelError({
            code: "BUDGET",
            message: "Too dear.",
            retryable: false,
            user_action: "raise_limit",
            detail: { metric: "cost_usd", used: spent_cost_usd, limit: max_cost_usd },
          });
        return { ...(await models.complete(request, io)), simulated: false, cost_usd: price };
      },
      describe: ({ model } = {}) => ({
        provider_id: "fake",
        name: "Fake",
        model: model ?? "fake-1",
        simulated: false,
        price_known: priceOf(model) !== null,
      }),
    },
    demoModels: newDemoModels,
    tools: fakeTools([]),
    scratchTools: newScratchTools,
  };
}

test("a comparison stops at its spending cap with equal inputs per variant, and skipped runs have no price", async () => {
  const report = await compare({
    name: "Letters",
    variants: [variant("dear"), variant("cheap")],
    tests,
    repeats: 1,
    parts: priced({ dear: 0.01, cheap: 0.001 }),
    spendingCap: new SpendingCap(0.025),
  });
  const stopped = "The next model call could exceed the limit of $0.0250; $0.0220 spent.";
  expect(
    report.variants.map(({ name, cost_usd, passed, not_run, cells }) => ({
      name,
      cost_usd: cost_usd && Number(cost_usd.toFixed(4)),
      passed,
      not_run,
      cells: cells.map((cell) => [cell.status, cell.runs, cell.cost_usd, cell.time_ms === null]),
    })),
  ).toEqual([
    {
      name: "dear",
      cost_usd: 0.02,
      passed: 2,
      not_run: 1,
      cells: [
        ["passed", 1, 0.01, false],
        ["passed", 1, 0.01, false],
        ["not_run", 0, null, true],
      ],
    },
    {
      name: "cheap",
      cost_usd: 0.002,
      passed: 2,
      not_run: 1,
      cells: [
        ["passed", 1, 0.001, false],
        ["passed", 1, 0.001, false],
        ["not_run", 0, null, true],
      ],
    },
  ]);
  expect([report.spending, report.notes.at(-1)]).toEqual([
    { spent_usd: expect.closeTo(0.022) as number, max_cost_usd: 0.025, stopped },
    `${stopped} 2 of 6 did not run.`,
  ]);
});

test("an answer of unknown price makes the cost unknown, and no call follows it", async () => {
  const report = await compare({
    name: "Letters",
    variants: [variant("odd"), variant("cheap")],
    tests,
    repeats: 1,
    parts: priced({ odd: null, cheap: 0.001 }),
    spendingCap: new SpendingCap(1),
  });
  const stopped =
    "The price of a response from fake-1 is unknown, so the limit of $1.000 can't be enforced and no more calls were made.";
  expect(
    report.variants.map(({ name, cost_usd, cells }) => [name, cost_usd, cells.map(({ runs }) => runs)]),
  ).toEqual([
    ["odd", null, [1, 0, 0]],
    ["cheap", null, [0, 0, 0]],
  ]);
  expect(report.spending).toEqual({ spent_usd: null, max_cost_usd: 1, stopped });
});
