import { expect, test, vi } from "vitest";
import { z } from "zod";
import { RunConfig } from "@/server/domain/agent/outcome";
import type { Json } from "@/server/domain/base/values";
import { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import { draw } from "@/server/domain/testing/drawing";
import { newDemoModels } from "@/server/llm/demo-models";
import { newScratchTools } from "@/server/scratch-tools";
import { defineTool } from "@/server/tools/define";
import { fakeModels, fakeTools, role } from "../testing";
import type { TestParts } from "./answering";
import { compare } from "./comparison";
import { verifyKept } from "./keep-run";
import { runMutants } from "./run-mutants";
import { runSuite, TestGates } from "./run-suite";
import { runTest } from "./run-test";
import { SpendingCap } from "./spending-cap";

const partsWith = (models: TestParts["models"]): TestParts => ({
  models,
  demoModels: newDemoModels,
  tools: fakeTools([]),
  scratchTools: newScratchTools,
});
const testOf = (more: object = {}) => ScenarioTest.parse({ id: "one", name: "One", ...more });
const writing = {
  name: "Letters",
  graph: draw("start > a > end", {
    a: {
      node_type: "agent_task",
      config: { required_role: "Writer", task_description_template: "Write" },
      output_keys: ["text"],
    },
  }),
  roles: [role("Writer")],
};
const simple = { name: "Simple", graph: draw("start > a > end"), roles: [] };
/** Real models that say these words, one after the other, and then the last of them. */
function replying(...replies: (string | Error)[]) {
  let at = 0;
  const models = fakeModels(() => {
    const reply = replies[Math.min(at++, replies.length - 1)] ?? "";
    if (reply instanceof Error) throw reply;
    return reply;
  });
  return partsWith(models);
}
const oslo = { kind: "text", key: "text", contains: "Oslo" };

test.each([
  [["Oslo", "Oslo", "Oslo"], 3, "passed", 3, "Passed 3 of 3 times, minimum 3."],
  [["Oslo", "Rome", "Oslo"], 2, "passed", 2, "Passed 2 of 3 times, minimum 2. text should contain"],
  [["Oslo", "Rome", "Rome"], 2, "failed", 1, "Passed 1 of 3 times, minimum 2. text should contain"],
])(
  "a test with the answers %j that must pass %i of 3 times has the result %s",
  async (replies, at_least, status, passed, sentence) => {
    const repeated = testOf({ expect: [oslo], repeats: { times: 3, at_least } });
    const report = await runTest(writing, repeated, replying(...replies), {
      spendingCap: new SpendingCap(1),
    });
    expect([report.status, report.repeats, report.sentence.slice(0, sentence.length)]).toEqual([
      status,
      { times: 3, passed, at_least },
      sentence,
    ]);
    // The rest tells of the first that did not pass, where there is one.
    expect(report.results.map((one) => one.status)).toEqual([passed === 3 ? "passed" : "failed"]);
  },
);

const never = { kind: "visits", node: "a", times: 9 };
const always = { kind: "status", is: "COMPLETED" };
test.each<[object[], string, string]>([
  [[], "passed", "The run finished; nothing else was expected."],
  [[always], "passed", "The expectation passed."],
  [[always, always], "passed", "All 2 expectations passed."],
  [[never], "failed", "Expected a to run 9 times, but it ran once."],
  [[always, never, never], "failed", "Expected a to run 9 times, but it ran once. 1 more failed."],
  [[never, never, never], "failed", "Expected a to run 9 times, but it ran once. 2 more failed."],
])("the expectations %j give the result %s and a summary", async (expectations, status, sentence) => {
  const report = await runTest(simple, testOf({ expect: expectations }), partsWith(newDemoModels()));
  expect([report.status, report.sentence]).toEqual([status, sentence]);
});

test("several problems of a test are reported by their number", async () => {
  const { sentence, problems } = await runTest(
    simple,
    testOf({ pins: { x: { output: {} }, y: { output: {} } } }),
    partsWith(newDemoModels()),
  );
  expect([sentence, problems.length]).toEqual(["This test can't run because of 2 problems.", 2]);
});

test("a run that doesn't finish fails its test, even without expectations", async () => {
  const graph = { ...simple.graph, config: RunConfig.parse({ max_steps: 1 }) };
  const { status, sentence, outcome } = await runTest(
    { ...simple, graph },
    testOf(),
    partsWith(newDemoModels()),
  );
  expect([status, sentence, outcome?.final_status]).toEqual([
    "failed",
    "Expected status Completed, got Limit reached (MAX_STEPS). The run reached its limit of 1 node executions. Raise the limit to continue.",
    "INCOMPLETE",
  ]);
});

test("suite results are reported as they finish, and a broken test doesn't stop the next", async () => {
  const failing = replying("Oslo");
  const tools = {
    ...failing.tools,
    specs: () => {
      throw new TypeError("odd");
    },
  };
  const progress: [string, boolean][] = [];
  const suite = await runSuite({
    tested: writing,
    tests: [testOf(), testOf({ id: "two", name: "Two" })],
    parts: {
      ...failing,
      demoModels: () => {
        throw new TypeError("odd");
      },
      tools,
    },
    onReport: ({ test_id }, took_ms) => progress.push([test_id, took_ms >= 0]),
  });
  expect(progress).toEqual([
    ["one", true],
    ["two", true],
  ]);
  expect(suite).toMatchObject({ workflow: "Letters", passed: 0, failed: 0, not_run: 2 });
  expect(suite.tests.map(({ sentence }) => sentence)).toEqual(
    Array(2).fill("This test could not finish: odd"),
  );
  expect("spending" in suite).toBe(false);
});

test("a suite stopped by a person runs no more tests", async () => {
  const abort = new AbortController();
  const progress: string[] = [];
  const going = runSuite({
    tested: simple,
    tests: [testOf(), testOf({ id: "two", name: "Two" })],
    parts: partsWith(newDemoModels()),
    aborted: abort.signal,
    onReport: ({ test_id }) => {
      progress.push(test_id);
      abort.abort(new Error("Enough."));
    },
  });
  await expect(going).rejects.toThrow("Enough.");
  expect(progress).toEqual(["one"]);
});

test("no mutants run without tests or if a test fails on the unchanged workflow", async () => {
  const parts = partsWith(newDemoModels());
  const nothing = { mutants: [], noticed: 0, survived: 0, left_out: 0 };
  expect(await runMutants({ tested: simple, tests: [], parts })).toEqual({
    ...nothing,
    why_not: "The workflow has no tests that could detect changes.",
  });
  expect(await runMutants({ tested: simple, tests: [testOf({ expect: [never] })], parts })).toEqual({
    ...nothing,
    why_not: "“One” doesn't pass on the unchanged workflow: Expected a to run 9 times, but it ran once.",
  });
  const bare = { ...simple, graph: draw("start > end") };
  expect(await runMutants({ tested: bare, tests: [testOf()], parts })).toEqual({
    ...nothing,
    why_not: "No small changes can be made to this workflow.",
  });
  expect(await runMutants({ tested: simple, tests: [testOf()], parts, most: 0 })).toMatchObject({
    mutants: [],
    left_out: 1,
  });
});

test("proposed expectations that fail in a second run are removed or loosened", async () => {
  const parts = partsWith(newDemoModels());
  const made = (expectations: object[]) => testOf({ expect: expectations });
  const path = { kind: "path", nodes: ["start", "end", "start"], mode: "exactly" };
  const { test: kept, notes } = await verifyKept(simple, made([always, path, never]), [], parts);
  expect(kept.expect).toEqual([always, { ...path, mode: "visited", nodes: ["start", "end"] }]);
  expect(notes).toEqual([
    "Removed or loosened an expectation that failed when repeated: Step 2: expected end, but a ran.",
    "Removed or loosened an expectation that failed when repeated: Expected a to run 9 times, but it ran once.",
  ]);
  const good = made([always]);
  expect(await verifyKept(simple, good, [], parts)).toEqual({ test: good, notes: [] });
});

test("a kept test that can't be verified stays unchanged and reports why", async () => {
  const parts = { ...partsWith(newDemoModels()) };
  const gate = {
    ...simple,
    graph: draw("start > gate; gate yes> end; gate no> end2", {
      gate: { node_type: "approval_gate", config: { title: "Send?", options: ["yes", "no"] } },
    }),
  };
  const asks = testOf({ expect: [{ kind: "visits", node: "gate", times: 2 }] });
  expect(await verifyKept(gate, asks, [], parts)).toEqual({
    test: asks,
    notes: [
      "The test doesn't pass when repeated: gate asks a person “Send?”, but this test has no answer for that question.",
    ],
  });
  const odd = testOf({ pins: { nobody: { output: {} } } });
  expect(await verifyKept(simple, odd, [], parts)).toEqual({
    test: odd,
    notes: ["The test doesn't pass when repeated: Can't pin an output: there is no node nobody."],
  });
  const real = { ...parts, models: { ...parts.models, describe: () => null } };
  const { test: missed, notes } = await verifyKept(writing, testOf({ expect: [never] }), [], real);
  expect([missed.expect, notes]).toEqual([
    [never],
    [expect.stringMatching(/^The test doesn't pass when repeated: This test has no recorded answers, /)],
  ]);
});

test("a comparison with the demo model is labeled as simulated", async () => {
  const report = await compare({
    name: "Letters",
    variants: [{ name: "as it is", tested: writing }],
    tests: [testOf({ simulated: true })],
    repeats: 2,
    parts: partsWith(newDemoModels()),
  });
  expect(report).toMatchObject({
    workflow: "Letters",
    cases: [{ case: "one", name: "One" }],
    notes: [
      "Simulated: the offline demo model answered, so costs, times and quality say nothing about real models.",
    ],
  });
  expect(report.variants[0]?.cells).toEqual([
    {
      case: "one",
      status: "passed",
      sentence: "The run finished; nothing else was expected.",
      runs: 2,
      passed: 2,
      judged: null,
      cost_usd: 0,
      judge_cost_usd: 0,
      tokens: expect.any(Number) as number,
      time_ms: null,
      simulated: true,
      unanswered: null,
    },
  ]);
  expect("spending" in report).toBe(false);
});

test("a comparison reports unanswered requests, with and without real models", async () => {
  const calling = {
    ...simple,
    graph: draw("start > call > end", {
      call: { node_type: "tool_call", config: { tool_name: "send_mail", args_template: {} } },
    }),
  };
  const sendMail = defineTool({
    name: "send_mail",
    description: "Sends a mail",
    input: z.object({}),
    source: "builtin",
    risk: "LOW",
    execute: () => expect.fail("A mail was sent."),
  });
  const asked = (more: object, variants: number) =>
    compare({
      name: "Mail",
      variants: Array.from({ length: variants }, (_, at) => ({ name: `${at}`, tested: calling })),
      tests: [testOf()],
      repeats: 1,
      parts: { ...partsWith(newDemoModels()), tools: fakeTools([sendMail]) },
      ...more,
    });
  const [alone, two, real] = [
    await asked({}, 1),
    await asked({}, 2),
    await asked({ spendingCap: new SpendingCap(1) }, 1),
  ];
  expect([alone.notes, two.notes, real.notes]).toEqual([
    ["1 of 1 run made requests that were not recorded. Real models can answer them."],
    ["2 of 2 runs made requests that were not recorded. Real models can answer them."],
    [
      "1 of 1 run called an outside tool, which tests don't.",
      "Tools had no outside effects: results that were not recorded, such as searches, were simulated.",
    ],
  ]);
  expect(alone.variants[0]?.cells[0]?.unanswered).toMatch(
    /^This test has no recorded answers, and tests don't call send_mail\./,
  );
  expect(real.variants[0]?.cells[0]?.unanswered).toMatch(
    /^Tests call no outside tools, even with real models, /,
  );
});

test.each([
  ["offline", 18],
  ["real", 6],
] as const)("%s test suites run or queue up to a limit of %i, and more are rejected", async (which, most) => {
  const gates = new TestGates();
  const ends: ((value: Json) => void)[] = [];
  const work = vi.fn(() => new Promise<Json>((resolve) => ends.push(resolve)));
  const going = Array.from({ length: most }, () => gates.through(which, undefined, work));
  await expect(gates.through(which, undefined, work)).rejects.toThrow(
    `${most} test suites are already running or queued. Try again shortly.`,
  );
  await expect.poll(() => work).toHaveBeenCalledTimes(2);
  // The other kind has places of its own.
  const other = gates.through(which === "real" ? "offline" : "real", undefined, async () => "done");
  expect(await other).toBe("done");
  for (let done = 0; done < most; done++) {
    await expect.poll(() => ends.length).toBeGreaterThan(0);
    ends.shift()?.(done);
  }
  expect(await Promise.all(going)).toEqual(Array.from({ length: most }, (_, at) => at));
});

test("a slot for tests is free again after a test failed", async () => {
  const gates = new TestGates();
  for (let k = 0; k < 4; k++)
    await expect(gates.through("real", undefined, () => Promise.reject(new Error("no")))).rejects.toThrow(
      "no",
    );
  expect(await gates.through("real", AbortSignal.timeout(60_000), async () => 1)).toBe(1);
});
