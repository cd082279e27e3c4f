import { expect, test } from "vitest";
import type { ComparisonReport } from "@/server/domain/scenario/comparison";
import { draw } from "@/server/domain/testing/drawing";
import { expectSchema, newApi } from "@/server/http-api/testing";
import type { ModelRequest } from "@/server/llm/model";

const RUBRIC = "It is long.";
const CREW = {
  agents: [
    { agent_id: "one", role_name: "Copywriter" },
    { agent_id: "two", role_name: "Copywriter" },
  ],
};
const GRAPH = draw("start > crew > end", {
  crew: {
    node_type: "crew_task",
    name: "Desk",
    config: {
      plan_description_template: "Write on {{ topic }}",
      crew: CREW,
      plan: {
        tasks: [
          { task_id: "draft", description: "Draft", assigned_agent: "one" },
          { task_id: "polish", description: "Polish", assigned_agent: "two" },
        ],
      },
    },
    input_keys: ["topic"],
    output_keys: ["text"],
  },
});

function newsroom() {
  const asked: (string | undefined)[] = [];
  const api = newApi(({ messages, llm_config }: ModelRequest) => {
    asked.push(llm_config.model);
    if (messages.some(({ content }) => content.includes(RUBRIC)))
      return JSON.stringify({ reason: "It reads so.", score: 0.5 });
    return "A text";
  });
  api.roles.put({ ...api.roles.all()[0]!, name: "Copywriter", tools: [] });
  const workflow = api.workflows.create({ name: "News", graph: GRAPH });
  const path = `/workflows/${workflow}/tests/compare`;
  const compare = async (body: object) => {
    const answer = await api.ask("POST", path, body);
    return { status: answer.status, body: answer.body as ComparisonReport & { error: { message: string } } };
  };
  return { api, asked, compare, tests: `/workflows/${workflow}/tests` };
}

const INPUTS = [{ name: "Rain", input: { topic: "rain" } }, { input: { topic: "sun" } }];
const EXPECT = [
  { kind: "text", key: "text", contains: "text" },
  { kind: "judge", rubric: RUBRIC, key: "text" },
];

test("variants are compared with real models by quality, cost and tokens", async () => {
  const { asked, compare } = newsroom();
  const { status, body } = await compare({
    variants: [
      { name: "Unchanged" },
      { name: "Small", models: { default: "small-1" } },
      { name: "One agent", twin: { node_id: "crew" } },
    ],
    inputs: INPUTS,
    expect: EXPECT,
    real: true,
    max_cost_usd: 5,
  });
  expectSchema("compareVariants", body);
  expect([status, body.cases]).toEqual([
    200,
    [
      { case: "input_1", name: "Rain" },
      { case: "input_2", name: "Input 2" },
    ],
  ]);
  expect(
    body.variants.map(({ name, passed, judged, cost_usd, tokens }) => ({
      name,
      passed,
      judged,
      cost_usd: cost_usd?.toFixed(3),
      tokens,
    })),
  ).toEqual([
    { name: "Unchanged", passed: 2, judged: 0.5, cost_usd: "0.004", tokens: 60 },
    { name: "Small", passed: 2, judged: 0.5, cost_usd: "0.004", tokens: 60 },
    // One call where the crew takes two.
    { name: "One agent", passed: 2, judged: 0.5, cost_usd: "0.002", tokens: 30 },
  ]);
  expect(body.variants.map(({ cells }) => cells.map(({ status: of, runs }) => [of, runs]))).toEqual(
    Array.from({ length: 3 }, () => [
      ["passed", 1],
      ["passed", 1],
    ]),
  );
  // The crew's models were the other ones in the second variant alone, and equal words were judged once: the crew gives one text, its twin another.
  expect(asked.filter((model) => model === "small-1")).toHaveLength(4);
  expect(asked).toHaveLength(4 + 4 + 2 + 2);
  expect(body.spending).toEqual({
    spent_usd: expect.closeTo(0.012) as number,
    max_cost_usd: 5,
    stopped: null,
  });
});

test("a comparison without real models calls none and reports what the demo model can't answer", async () => {
  const { api, asked, compare, tests } = newsroom();
  const simulated = await compare({ variants: [{ name: "Unchanged" }], inputs: INPUTS });
  expect(simulated.body.variants).toMatchObject([{ passed: 2, simulated: true, time_ms: null }]);
  expect(simulated.body.notes).toEqual([
    "Simulated: the offline demo model answered, so costs, times and quality say nothing about real models.",
  ]);
  const request = "b".repeat(64);
  const answers = {
    format: "troupe.cassette",
    version: 1,
    answers: [{ request, kind: "model", asked: {}, value: {} }],
  };
  await api.ask("POST", tests, { name: "Recorded", input: { topic: "snow" }, answers });
  const recorded = await compare({
    variants: [{ name: "Unchanged" }, { name: "Small", models: { "*": "small-1" } }],
  });
  expect(
    recorded.body.variants.map(({ cells }) => cells.map((cell) => [cell.status, cell.unanswered])),
  ).toEqual(
    Array.from({ length: 2 }, () => [
      ["failed", expect.stringContaining("There is no recorded answer.") as string],
    ]),
  );
  expect(recorded.body.notes).toEqual([
    "2 of 2 runs made requests that were not recorded. Real models can answer them.",
  ]);
  expect(asked).toEqual([]);
});

test("a variant whose model has no known price is rejected before any call", async () => {
  const { api, asked, compare } = newsroom();
  const { describe } = api.models;
  api.models.describe = (choice = {}) => {
    const found = describe(choice);
    return found && { ...found, model: choice.model ?? found.model, price_known: choice.model !== "odd-1" };
  };
  const answer = await compare({
    variants: [{ name: "Unchanged" }, { name: "Odd", models: { default: "odd-1" } }],
    inputs: INPUTS,
    real: true,
    max_cost_usd: 5,
  });
  expect([answer.status, answer.body.error.message, asked]).toEqual([
    400,
    "The price of odd-1 is unknown, so a limit in dollars can't be enforced. Set the price in the provider's settings.",
    [],
  ]);
});

test("an invalid comparison is rejected with a message", async () => {
  const { compare } = newsroom();
  const errorOf = async (body: object) => {
    const answer = await compare(body);
    return [answer.status, answer.body.error.message];
  };
  const variants = [{ name: "Unchanged" }];
  expect(await errorOf({ variants })).toEqual([400, "Nothing to compare. Specify inputs, or add a test."]);
  expect(await errorOf({ variants, inputs: INPUTS, real: true })).toEqual([
    400,
    "Real models cost money. Set a maximum in US dollars in max_cost_usd.",
  ]);
  expect(await errorOf({ variants: [{ name: "Odd", models: { gone: "x" } }], inputs: INPUTS })).toEqual([
    400,
    "The variant Odd is invalid: No node uses the model gone. Models in use: fake-1.",
  ]);
  expect(await errorOf({ variants: [...variants, ...variants], inputs: INPUTS })).toEqual([
    400,
    expect.stringContaining("Invalid body (variants): Give each variant a unique name"),
  ]);
});
