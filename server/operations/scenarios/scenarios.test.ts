import { expect, test } from "vitest";
import type { SuiteReport, TestReport } from "@/server/domain/scenario/report";
import type { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import { draw } from "@/server/domain/testing/drawing";
import { type Api, expectSchema, newApi } from "@/server/http-api/testing";

const ended = (api: Api, run_id: string) => expect.poll(() => api.runs.find(run_id)?.status).toBe("finished");

async function approved() {
  const asked: string[] = [];
  const api = newApi(({ messages }) => {
    asked.push(messages.at(-1)?.content ?? "");
    return '{"approval_status": "approved", "approver_comments": "Enjoy."}';
  });
  const workflow = api.addApproval();
  const start = await api.ask("POST", `/workflows/${workflow}/runs`, {
    input: { user_request: "Vacation next week" },
  });
  const { run_id } = start.body as { run_id: string };
  await ended(api, run_id);
  return { api, asked, workflow, run_id };
}

interface Kept {
  workflow_id: string;
  test: ScenarioTest;
  report: TestReport;
  notes: string[];
}

test("a run kept as a test passes without calls and fails once the workflow changes", async () => {
  const { api, asked, workflow, run_id } = await approved();
  const calls = asked.length;
  const { status, body } = await api.ask("POST", `/runs/${run_id}/test`, { name: "Vacation" });
  expectSchema("keepRunAsTest", body);
  const kept = body as Kept;
  expect([status, kept.workflow_id, kept.test.id, kept.notes, kept.report.status]).toEqual([
    201,
    workflow,
    "vacation",
    [],
    "passed",
  ]);
  expect(kept.test.expect.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(["status", "path", "questions", "text"]),
  );
  expect(kept.test.answers?.answers.map(({ kind }) => kind)).toEqual(["model", "model"]);

  const ran = await api.ask("POST", `/workflows/${workflow}/tests/run`, {});
  expectSchema("runTests", ran.body);
  expect(ran.body).toMatchObject({ passed: 1, failed: 0, not_run: 0 });
  const again = await api.ask("POST", `/workflows/${workflow}/tests/run`, { tests: ["vacation"] });
  expect(again.body).toEqual(ran.body);
  expect(asked).toHaveLength(calls);

  const mutants = await api.ask("POST", `/workflows/${workflow}/tests/mutants`, {});
  expectSchema("runMutants", mutants.body);
  expect(mutants.body).toMatchObject({ why_not: null, left_out: 0 });
  expect((mutants.body as { noticed: number }).noticed).toBeGreaterThan(3);
  expect(asked).toHaveLength(calls);

  const { graph, revision, name } = api.workflows.find(workflow)!;
  const ask = Object.values(graph.nodes).find(({ node_type }) => node_type === "agent_task")!;
  const changed = {
    ...graph,
    nodes: {
      ...graph.nodes,
      [ask.id]: {
        ...ask,
        config: {
          ...ask.config,
          task_description_template: `Say no. ${String((ask.config as { task_description_template?: string }).task_description_template)}`,
        },
      },
    },
  } as typeof graph;
  api.workflows.save({ id: workflow, revision, name, graph: changed });
  const failed = (await api.ask("POST", `/workflows/${workflow}/tests/run`, {})).body as SuiteReport;
  expect(failed.tests[0]).toMatchObject({ status: "failed", missed: { node_id: ask.id } });
  expect(failed.tests[0]?.sentence).toContain("Say no.");
  expect(asked).toHaveLength(calls);

  const results = await api.ask("GET", `/workflows/${workflow}/tests/results`);
  expectSchema("listTestResults", results.body);
  const list = (results.body as { results: { id: number; status: string }[] }).results;
  expect(list.map((one) => one.status)).toEqual(["failed", "passed", "passed", "passed"]);
  const one = await api.ask("GET", `/workflows/${workflow}/tests/results/${list[0]!.id}`);
  expectSchema("getTestResult", one.body);
  expect((one.body as { report: TestReport }).report).toEqual(failed.tests[0]);
});

test("tests are created, changed and deleted, and one that names a missing node doesn't run", async () => {
  const api = newApi();
  const workflow = api.workflows.create({ name: "Drawn", graph: draw("start > a > end") });
  const path = `/workflows/${workflow}/tests`;
  const made = await api.ask("POST", path, {
    name: "Goes through",
    expect: [{ kind: "path", nodes: ["start", "gone"] }],
  });
  expectSchema("createTest", made.body);
  const problems = ["Expectation 1: It refers to the node gone, which this workflow doesn't have."];
  expect([made.status, made.body]).toEqual([201, expect.objectContaining({ id: "goes_through", problems })]);
  const list = async () =>
    (await api.ask("GET", path)).body as { tests: { problems: string[]; last: unknown }[] };
  expect((await list()).tests).toMatchObject([{ id: "goes_through", expectations: 1, problems, last: null }]);
  expect((await api.ask("POST", `${path}/run`, {})).body).toMatchObject({
    passed: 0,
    failed: 0,
    not_run: 1,
    tests: [{ status: "not_run", sentence: problems[0], problems }],
  });
  const mended = { name: "Goes through", expect: [{ kind: "path", nodes: ["start", "a"] }] };
  expect((await api.ask("PUT", `${path}/goes_through`, { ...mended, revision: 7 })).status).toBe(412);
  expect((await api.ask("PUT", `${path}/goes_through`, { ...mended, revision: 1 })).body).toMatchObject({
    problems: [],
    revision: 2,
  });
  expect((await api.ask("POST", `${path}/run`, {})).body).toMatchObject({ passed: 1 });
  expect((await list()).tests).toMatchObject([{ problems: [], last: { status: "passed", revision: 1 } }]);
  expect((await api.ask("POST", path, { id: "goes_through", name: "Again" })).status).toBe(409);
  expect((await api.ask("POST", path, { id: "run", name: "Again" })).status).toBe(400);
  expect((await api.ask("POST", path, { name: "Odd", expect: [{ kind: "path" }] })).status).toBe(400);
  expect((await api.ask("DELETE", `${path}/goes_through`)).status).toBe(204);
  expect((await api.ask("GET", `${path}/goes_through`)).status).toBe(404);
  expect((await list()).tests).toEqual([]);
});

test("a run's recorded answers are exported without keys and stored unchanged in a test", async () => {
  const { api, asked, workflow, run_id } = await approved();
  const calls = asked.length;
  const { status, body } = await api.ask("GET", `/runs/${run_id}/cassette`);
  const path = `/workflows/${workflow}/tests`;
  const starts_at = (body as { recorded: { began_at: number } }).recorded.began_at;
  const input = { user_request: "Vacation next week" };
  await api.ask("POST", path, { id: "own", name: "Own", input, starts_at, simulated: true });
  const put = await api.ask("PUT", `${path}/own/cassette`, body);
  expectSchema("setTestAnswers", put.body);
  expect([put.status, (put.body as ScenarioTest).answers]).toEqual([200, body]);
  expect(put.body).not.toHaveProperty("simulated");
  expect((await api.ask("POST", `${path}/run`, {})).body).toMatchObject({ passed: 1 });
  expect(asked).toHaveLength(calls);
  expect((await api.ask("PUT", `${path}/own/cassette`, { answers: [] })).status).toBe(400);
  expect((await api.ask("PUT", `${path}/gone/cassette`, body)).status).toBe(404);
  expectSchema("getCassette", body);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    format: "troupe.cassette",
    version: 1,
    recorded: { run_id, models: ["fake-1"] },
    answers: [
      { kind: "model", value: { content: expect.stringContaining("approved") as string } },
      { kind: "model" },
    ],
  });
});

test("tests are exported and imported with their workflow and don't change it", async () => {
  const { api, workflow, run_id } = await approved();
  const before = await api.ask("GET", `/workflows/${workflow}`);
  await api.ask("POST", `/runs/${run_id}/test`, { name: "Vacation" });
  const { tests, ...rest } = (await api.ask("GET", `/workflows/${workflow}`)).body as {
    tests: ScenarioTest[];
  };
  expect([rest, tests.map(({ id }) => id)]).toEqual([before.body, ["vacation"]]);
  expect((await api.ask("GET", `/workflows/${workflow}?tests=left_out`)).body).toEqual(before.body);

  const odd = [...tests, { id: "odd", expect: [] }, { ...tests[0], name: "Once more" }];
  const brought = await api.ask("POST", "/workflows", { ...rest, tests: odd });
  const { id, findings } = brought.body as { id: string; findings: { at: string; message: string }[] };
  expect(findings.filter(({ at }) => at.startsWith("tests"))).toEqual([
    {
      level: "dropped",
      at: "tests.1",
      message: "This test was left out: name: Must not be missing",
    },
    { level: "dropped", at: "tests.2", message: "A second test with the id vacation was left out." },
    { level: "info", at: "tests", message: "Includes 1 test." },
  ]);
  const run = async (of: string) =>
    (await api.ask("POST", `/workflows/${of}/tests/run`, {})).body as SuiteReport;
  const copy = (await api.ask("POST", `/workflows/${id}/duplicate`)).body as { id: string };
  const reports = [await run(workflow), await run(id), await run(copy.id)];
  expect(reports.map(({ passed }) => passed)).toEqual([1, 1, 1]);
  expect(reports[1]?.tests).toEqual(reports[0]?.tests);
  await api.ask("PUT", `/workflows/${id}`, { ...rest, tests: [{ ...tests[0], name: "Renamed" }] });
  expect((await api.ask("GET", `/workflows/${id}/tests`)).body).toMatchObject({
    tests: [{ id: "vacation", name: "Renamed" }],
  });
});
