import { expect, test } from "vitest";
import { z } from "zod";
import { RoleDefinition } from "@/server/domain/agent/role";
import type { JsonObject } from "@/server/domain/base/values";
import type { BisectReport } from "@/server/domain/run/bisect/report";
import type { RuleExpectation } from "@/server/domain/scenario/expectation";
import { draw } from "@/server/domain/testing/drawing";
import { defineTool } from "@/server/tools/define";
import { cases, roles as crewRoles, graphOf, modelsOf } from "../crew/testing";
import { fakeModels, fakeTools, newStage } from "../testing";
import { bisect } from "./bisect";
import { recordingOf } from "./recording";

type Stage = ReturnType<typeof newStage>;
type Options = Parameters<Stage["run"]>[1];

const roles = [RoleDefinition.parse({ name: "Worker" })];
const agent = (key: string, task: string): JsonObject => ({
  node_type: "agent_task",
  config: { required_role: "Worker", task_description_template: task },
  output_keys: [key],
});

/** Two runs on one database, each on a server whose models and tools answer in their own way. */
async function twoRuns(
  good: {
    answer?: (task: string) => string;
    price?: (call: number) => number;
    drawing?: ReturnType<typeof draw>;
    more?: Options;
  },
  bad: typeof good,
  drawing: ReturnType<typeof draw>,
) {
  const first = newStage();
  const called: string[] = [];
  const ids: string[] = [];
  let calls = 0;
  for (const one of [good, bad]) {
    const stage = newStage({
      db: first.db,
      models: fakeModels(({ messages }) => {
        const task = messages.at(-1)?.content ?? "";
        called.push(task);
        return one.answer?.(task) ?? "fine";
      }),
      tools: fakeTools([
        defineTool({
          name: "price",
          description: "What it costs",
          input: z.object({}),
          source: "builtin",
          risk: "LOW",
          read_only: true,
          execute: () => {
            called.push("price");
            return { price: one.price?.(calls++) ?? 1 };
          },
        }),
      ]),
    });
    calls = 0;
    ids.push((await stage.run(one.drawing ?? drawing, { roles, ...one.more })).id);
  }
  const before = called.length;
  const find = async (expectation: RuleExpectation, [a, b] = ids): Promise<BisectReport> => {
    const [one, other] = [a, b].map((id) => recordingOf(first.store, id ?? "")!);
    const report = await bisect(one!, other!, expectation);
    expect(called.length).toBe(before);
    return report;
  };
  return { stage: first, ids, find };
}

const state = (when: string): RuleExpectation => ({ kind: "state", when });
const summarize = ({ verdict, step, differences, tries }: BisectReport) => ({
  verdict,
  step: step === undefined ? null : differences[step]?.title,
  tries: tries.map(({ from_good, outcome }) => `${from_good} ${outcome}`),
});

const three = () =>
  draw("start > a > b > c > end", { a: agent("a", "one"), b: agent("b", "two"), c: agent("c", "three") });

test("bisecting finds the decisive model response among several that differ, without new calls", async () => {
  const { find } = await twoRuns(
    {},
    { answer: (task) => (task.includes("one") ? "well" : task.includes("two") ? "wrong" : "good") },
    three(),
  );
  const report = await find(state("state.b != 'wrong'"));
  expect(summarize(report)).toEqual({
    verdict: "found",
    step: "Model response in b",
    tries: ["0 fails", "3 holds", "1 fails", "2 holds"],
  });
  expect(report.differences[report.step!]).toMatchObject({
    kind: "model",
    node_id: "b",
    activation_id: "b#1",
    good: "fine",
    bad: "wrong",
  });
  expect(report.sentence).toBe(
    "Model response in b makes the difference: the expectation passes with the good run's value and fails with the bad run's.",
  );
});

test("an early response that later responses depend on is found as the difference", async () => {
  const drawing = draw("start > a > b > end", { a: agent("a", "one"), b: agent("b", "after {{ a }}") });
  const { find } = await twoRuns(
    { answer: (task) => (/after.*fine/s.test(task) ? "good" : "fine") },
    { answer: (task) => (/after.*odd/s.test(task) ? "bad" : "odd") },
    drawing,
  );
  expect(summarize(await find(state("state.b == 'good'")))).toEqual({
    verdict: "found",
    step: "Model response in a",
    tries: ["0 fails", "1 holds"],
  });
});

test("a tool result, the input or the workflow can make the difference", async () => {
  const priced = draw("start > p > q > end", {
    p: { node_type: "tool_call", config: { tool_name: "price", args: {} }, output_keys: ["price"] },
    q: { config: { set: { q: "state.price.price + state.more" } } },
  });
  const more = (n: number) => ({ more: { input: { more: n } } });
  const tool = await twoRuns({ ...more(1) }, { price: () => 9, ...more(2) }, priced);
  expect(summarize(await tool.find(state("state.q < 11")))).toEqual({
    verdict: "found",
    step: "Input",
    tries: ["0 fails", "2 holds", "1 holds"],
  });
  expect(summarize(await tool.find(state("state.q < 4")))).toEqual({
    verdict: "found",
    step: "Result of price in p",
    tries: ["0 fails", "2 holds", "1 fails"],
  });
  const other = draw("start > p > q > end", {
    p: { node_type: "tool_call", config: { tool_name: "price", args: {} }, output_keys: ["price"] },
    q: { config: { set: { q: "state.price.price * 100" } } },
  });
  const drawn = await twoRuns({ ...more(1) }, { drawing: other, ...more(2) }, priced);
  const report = await drawn.find(state("state.q < 10"));
  expect(summarize(report)).toEqual({
    verdict: "found",
    step: "Workflow",
    tries: ["0 fails", "2 holds", "1 holds"],
  });
  expect(report.differences[0]!.good).toBe("differs: q");
});

test("a person's answer that changed the route is found with a path expectation", async () => {
  const drawing = draw("start > gate; gate approved> b > end; gate rejected> c > end", {
    gate: { node_type: "approval_gate", config: { title: "Go on?", options: ["approved", "rejected"] } },
  });
  const stage = newStage();
  const ids = await Promise.all(
    ["approved", "rejected"].map(async (option) => {
      const id = stage.start(drawing);
      await expect.poll(() => stage.store.find(id)!.waits_for).toBe("person");
      const [question] = Object.values(stage.store.state(id)!.interactions);
      stage.host.steering.answer(id, question!.id, question!.requested.fingerprint, {
        answer: "chosen",
        option,
        by: "ann",
      });
      await expect.poll(() => stage.store.find(id)!.status).toBe("finished");
      return id;
    }),
  );
  const [good, bad] = ids.map((id) => recordingOf(stage.store, id)!);
  const report = await bisect(good!, bad!, { kind: "path", nodes: ["b"], mode: "visited" });
  expect(summarize(report)).toEqual({
    verdict: "found",
    step: "Person's answer in gate",
    tries: ["0 fails", "1 holds"],
  });
  expect(report.differences[0]).toMatchObject({ node_id: "gate", good: "approved", bad: "rejected" });
  expect(await bisect(good!, bad!, { kind: "path", nodes: ["c"], mode: "never" })).toMatchObject({
    verdict: "found",
    step: 0,
  });
});

test("a person's edit at a breakpoint is found as the difference", async () => {
  const drawing = draw("start > set > r; r left> a > end; r right> b > end", {
    set: { output_keys: ["r"], config: { set: { r: "'left'" } } },
    a: agent("a", "one"),
    b: agent("b", "two"),
  });
  const { stage, ids, find } = await twoRuns({}, {}, drawing);
  const id = stage.start(drawing, {
    roles,
    config: { breakpoints: [{ on: "node_start", node_id: "r" }] },
  });
  await expect.poll(() => stage.store.find(id)?.status).toBe("paused");
  await stage.host.steering.command(id, { kind: "edit_state", set: { r: "right" }, remove: [] }, "ann");
  await stage.host.steering.command(id, { kind: "resume" }, "ann");
  await stage.host.settled(id);
  const way: RuleExpectation = { kind: "path", nodes: ["a"], mode: "visited" };
  expect(summarize(await find(way, [ids[0]!, id]))).toEqual({
    verdict: "found",
    step: "Manual edits and pins",
    tries: ["0 fails", "1 holds"],
  });
  expect(summarize(await find({ ...way, nodes: ["b"] }, [id, ids[0]!])).step).toBe("Manual edits and pins");
});

test("a replay that reaches a request without a recorded answer narrows the result to two differences", async () => {
  const drawing = draw("start > a > b > c > end", {
    a: agent("a", "one"),
    b: agent("b", "two"),
    c: agent("c", "join {{ a }} {{ b }}"),
  });
  const { find } = await twoRuns(
    { answer: (task) => (/join.*fine.*fine/s.test(task) ? "good" : "fine") },
    { answer: (task) => (/join.*odd.*odd/s.test(task) ? "bad" : "odd") },
    drawing,
  );
  const report = await find(state("state.c == 'good'"));
  expect(summarize(report)).toEqual({
    verdict: "undecided",
    step: null,
    tries: ["0 fails", "2 holds", "1 unknown"],
  });
  expect(report.between).toEqual([0, 1]);
  expect(report.sentence).toBe(
    "Undecided between 2 differences, from Model response in a to Model response in b. In between, the replays made requests that neither run has an answer for, and no calls are made to get one.",
  );
  expect(report.tries[2]!.why).toContain(
    "Its call to a model differs from the closest recorded one: at messages[1].content, line 4, recorded: “join <a>odd</a> <b>odd</b>”; requested: “join <a>fine</a> <b>odd</b>”.",
  );
});

test("identical runs report no difference, and a failed call counts as a difference", async () => {
  const same = await twoRuns({}, {}, three());
  expect(summarize(await same.find(state("state.b == 'other'")))).toEqual({
    verdict: "no_difference",
    step: null,
    tries: ["0 fails"],
  });
  const failing = await twoRuns(
    {},
    {
      answer: (task) => {
        if (task.includes("two")) throw new Error("no line");
        return "fine";
      },
    },
    three(),
  );
  expect(summarize(await failing.find({ kind: "status", is: "COMPLETED" }))).toMatchObject({
    verdict: "found",
    step: "Model response in b",
  });
});

test("many differences are narrowed down by binary search", async () => {
  const names = Array.from({ length: 44 }, (_, at) => `a${at}`);
  const call = (name: string): JsonObject => ({
    node_type: "tool_call",
    config: { tool_name: "price", args: {} },
    output_keys: [name],
  });
  const drawing = draw(
    `start > ${names.join(" > ")} > end`,
    Object.fromEntries(names.map((name) => [name, call(name)])),
  );
  const { find } = await twoRuns({}, { price: (at) => 100 + at }, drawing);
  const report = await find(state("state.a30.price != 130"));
  expect(report.differences).toHaveLength(44);
  expect(summarize(report).step).toBe("Result of price in a30");
  expect(report.tries.length).toBeLessThan(10);
});

test.each(Object.keys(cases))("a crew that works %s comes out by its record as it did", async (name) => {
  const one = cases[name]!;
  const stage = newStage({ models: modelsOf(one.answer) });
  const { id } = await stage.run(graphOf(one), { roles: crewRoles });
  const recording = recordingOf(stage.store, id)!;
  const { tries } = await bisect(recording, recording, { kind: "status", is: "CANCELLED" });
  expect(tries).toEqual([
    {
      from_good: 0,
      outcome: "fails",
      why: "Completed.",
    },
  ]);
});
