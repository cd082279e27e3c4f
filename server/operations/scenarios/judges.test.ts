import { expect, test } from "vitest";
import type { SuiteReport } from "@/server/domain/scenario/report";
import type { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import { draw } from "@/server/domain/testing/drawing";
import { type Api, expectSchema, newApi } from "@/server/http-api/testing";
import type { ModelRequest } from "@/server/llm/model";
import { registerSecret } from "@/server/secrets/redact";

const GRAPH = draw("start > a > end", {
  a: {
    node_type: "agent_task",
    config: { required_role: "Copywriter", task_description_template: "Write to {{ city }}" },
    input_keys: ["city"],
    output_keys: ["text"],
  },
});
const RUBRIC = "It is friendly.";

/** Writes a letter, friendly or not by its city; a judge likes all but those to Rome. */
const answer = ({ messages }: ModelRequest): string => {
  const text = messages.map(({ content }) => content).join("\n");
  if (text.includes(RUBRIC))
    return JSON.stringify({ reason: "As it reads.", score: text.includes("Rome") ? 0.1 : 0.9 });
  return `Dear ${/City\d+|Rome\d*/.exec(text)?.[0] ?? "nobody"}`;
};

const CITIES = ["City1", "City2", "City3", "City4", "City5", "City6", "Rome1", "Rome2", "Rome3", "Rome4"];

async function judged(): Promise<{ api: Api; path: string }> {
  const api = newApi(answer);
  const described = api.models.describe();
  api.models.describe = () => described && { ...described, simulated: false };
  const role = api.roles.all()[0]!;
  api.roles.put({ ...role, name: "Copywriter" });
  const workflow = api.workflows.create({ name: "Letters", graph: GRAPH });
  const path = `/workflows/${workflow}/tests`;
  for (const city of CITIES)
    await api.ask("POST", path, {
      name: city,
      input: { city },
      expect: [{ kind: "judge", rubric: RUBRIC, key: "text" }],
    });
  return { api, path };
}

interface Judge {
  judge: string;
  outputs: number;
  labels: number;
  kappa: number | null;
}
interface Output {
  judge: string;
  item: string;
  text: string;
  good: boolean | null;
}

test("a judge decides by its threshold, and its outputs can be listed and labeled", async () => {
  const { api, path } = await judged();
  const run = async (more: object) => (await api.ask("POST", `${path}/run`, more)).body as SuiteReport;
  const real = await run({ real: true, max_cost_usd: 1 });
  expectSchema("runTests", real);
  expect([real.passed, real.failed, real.spending]).toEqual([
    6,
    4,
    { spent_usd: expect.closeTo(0.02) as number, max_cost_usd: 1, stopped: null },
  ]);

  const judges = async () => (await api.ask("GET", `${path}/judges`)).body as { judges: Judge[] };
  expectSchema("listJudges", await judges());
  const [judge] = (await judges()).judges;
  expect(judge).toMatchObject({ outputs: 10, labels: 0, kappa: null, counts: true, model: "fake-1" });
  const outputs = async () =>
    (await api.ask("GET", `${path}/judges/${judge!.judge}/outputs`)).body as { outputs: Output[] };
  expectSchema("listJudgedOutputs", await outputs());
  const label = ({ judge: of, item }: Output, good: unknown) =>
    api.ask("PUT", `${path}/judges/${of}/outputs/${item}`, { good });
  const all = (await outputs()).outputs;
  for (const output of all) expect((await label(output, output.text.includes("City"))).status).toBe(204);
  expect((await judges()).judges).toMatchObject([{ labels: 10, same: 10, kappa: null }]);
  expect((await label({ ...all[0]!, item: "0".repeat(32) }, true)).status).toBe(404);

  const decided = await run({ real: true, max_cost_usd: 1 });
  expect([decided.passed, decided.failed, decided.not_run]).toEqual([6, 4, 0]);
  // What it said of the very same words is not asked for again.
  expect(decided.spending?.spent_usd).toBeCloseTo(0.01);

  await label(all[0]!, null);
  expect((await judges()).judges).toMatchObject([{ labels: 9, same: 9 }]);
  expect((await outputs()).outputs.map(({ good }) => good).slice(0, 2)).toEqual([null, expect.any(Boolean)]);
});

test("tests with real models require a maximum cost", async () => {
  const { api, path } = await judged();
  const rejection = await api.ask("POST", `${path}/run`, { real: true });
  expect([rejection.status, (rejection.body as { error: { message: string } }).error.message]).toEqual([
    400,
    "Real models cost money. Set a maximum in US dollars in max_cost_usd.",
  ]);
});

test("stored keys are redacted from tests, however they are created", async () => {
  const secret = "sk-very-secret-key-0123456789";
  registerSecret(secret);
  const { api, path } = await judged();
  const request = "a".repeat(64);
  const answers = {
    format: "troupe.cassette",
    version: 1,
    answers: [{ request, kind: "model", asked: { key: secret }, value: { content: secret } }],
  };
  const made = { name: "Keyed", input: { city: secret }, answers };
  const created = (await api.ask("POST", path, made)).body as ScenarioTest;
  const replaced = (await api.ask("PUT", `${path}/keyed`, made)).body as ScenarioTest;
  const { tests: _t, ...file } = (await api.ask("GET", path.replace("/tests", ""))).body as {
    tests: ScenarioTest[];
  };
  const brought = (await api.ask("POST", "/workflows", { ...file, tests: [{ id: "keyed", ...made }] }))
    .body as { id: string };
  const imported = (await api.ask("GET", `/workflows/${brought.id}/tests/keyed`)).body as ScenarioTest;
  for (const test of [created, replaced, imported]) {
    expect(JSON.stringify(test)).not.toContain(secret);
    expect(test.answers?.answers[0]?.request).toBe(request);
  }
});
