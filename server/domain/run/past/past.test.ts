import fc from "fast-check";
import { expect, test } from "vitest";
import { RunConfig } from "@/server/domain/agent/outcome";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { evaluateCondition } from "@/server/domain/text/expression/expression";
import { foldRun } from "..";
import type { NewEvent, RunEvent } from "../events";
import { askedPerson } from "./asked-person";
import { keyHistory, whoWrote } from "./key-history";
import { momentOf, stepChange } from "./step-change";
import { nextOccurrence } from "./steps";
import { whenTrue } from "./when-true";

const CREATED: NewEvent = {
  type: "run_created",
  payload: {
    graph: draw("start > a > end"),
    roles: [],
    workflow_id: null,
    workflow_name: "Test",
    input: {},
    config: RunConfig.parse({}),
    trigger: "test",
    provider_summary: null,
  },
};
const log = (...events: NewEvent[]): RunEvent[] =>
  [CREATED, ...events].map((event, at) => ({ ...event, seq: at + 1, ts: at * 10 }));
const began = (state: JsonObject): NewEvent => ({
  type: "state_initialized",
  payload: { state, defaults_applied: [] },
});
const patch = (set: JsonObject, writer = "a#1", reducers?: Record<string, string>): NewEvent => ({
  type: "state_patched",
  node_id: writer.split("#")[0]!,
  activation_id: writer,
  payload: { set, writer, ...(reducers ? { reducers } : {}) },
});
const usage = {
  input_tokens: 0,
  output_tokens: 0,
  cached_input_tokens: 0,
  reasoning_tokens: 0,
  requests: 1,
  estimated: false,
};
const answered = (agent_id: string, output: JsonObject): NewEvent => ({
  type: "agent_finished",
  node_id: "a",
  activation_id: "a#1",
  agent_id,
  payload: { status: "completed", output, usage, cost_usd: 0 },
});

test("the history of a key lists writers, steps, agents and previous values", () => {
  const events = log(
    began({ draft: "none" }),
    answered("writer", { draft: "one" }),
    answered("editor", { draft: "two" }),
    patch({ draft: "two" }),
    patch({ other: 1 }, "b#1"),
    patch({ draft: "three" }, "b#1"),
  );
  const [input, first, second] = [
    { seq: 2, ts: 10, writer: "input", after: "none" },
    { seq: 5, ts: 40, writer: "a#1", node_id: "a", agent_id: "editor", before: "none", after: "two" },
    { seq: 7, ts: 60, writer: "b#1", node_id: "b", before: "two", after: "three" },
  ];
  expect(keyHistory(events, "draft")).toEqual([input, first, second]);
  expect([1, 2, 4, 5, 6, 7].map((at) => whoWrote(events, "draft", at))).toEqual([
    null,
    input,
    input,
    first,
    first,
    second,
  ]);
  expect(keyHistory(events, "constructor")).toEqual([]);
});

const keys = fc.constantFrom("n", "words");
const values = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constantFrom("x", "y"), fc.constant([1, 2]));
const patches = fc.array(
  fc.record({ key: keys, value: values as fc.Arbitrary<Json>, appends: fc.boolean(), by: fc.nat(3) }),
  { maxLength: 25 },
);
const arbitraryLog = patches.map((all) =>
  log(
    began({ words: [] }),
    ...all.map(({ key, value, appends, by }) =>
      patch({ [key]: value }, `a#${by + 1}`, appends && key === "words" ? { words: "append" } : undefined),
    ),
  ),
);

test("in any log, the last write of a key matches the state at every point", () => {
  fc.assert(
    fc.property(arbitraryLog, (events) => {
      for (let at = 1; at <= events.length; at++)
        for (const key of ["n", "words"]) {
          const state = foldRun("r", events.slice(0, at));
          const wrote = whoWrote(events, key, at);
          expect([wrote?.after, wrote?.writer]).toEqual([state.state[key], state.writer[key]]);
        }
      for (const key of ["n", "words"]) {
        const writes = keyHistory(events, key);
        expect(writes.slice(1).map(({ before }) => before)).toEqual(
          writes.slice(0, -1).map(({ after }) => after),
        );
      }
    }),
    { numRuns: 60 },
  );
});

const CONDITIONS = ["state.n > 2", "size(state.words) > 1", "has(state.n) && state.n == state.n", "true"];

test("in any log, a condition is true exactly in the listed spans", () => {
  fc.assert(
    fc.property(arbitraryLog, fc.constantFrom(...CONDITIONS), (events, condition) => {
      const found = whenTrue(events, condition);
      expect(found.searched_to).toBe(1);
      for (let at = 1; at <= events.length; at++) {
        const { state } = foldRun("r", events.slice(0, at));
        let holds = false;
        try {
          holds = evaluateCondition(condition, { state }).value;
        } catch {
          // What cannot be decided counts as not holding.
        }
        const isFound = found.held.some(({ from, to }) => at >= from && (to === null || at < to));
        expect([at, isFound]).toEqual([at, holds]);
      }
    }),
    { numRuns: 60 },
  );
});

test("a search over its budget reports how far back it got, and an undecidable condition is reported", () => {
  const events = log(began({ n: 0 }), ...Array.from({ length: 50 }, (_, n) => patch({ n })));
  const found = whenTrue(events, "state.n == 3", { units: 1_000 });
  expect(found.held).toEqual([]);
  expect(found.searched_to).toBeGreaterThan(10);
  expect(whenTrue(log(began({ n: "words" })), "state.n > 3").undecided).toContain("string");
  expect(() => whenTrue(events, "state.n >")).toThrow("The expression is incomplete.");
  expect(() => whenTrue(events, "1 + 1")).toThrow("This must be true or false");
});

test("a question is shown as it was asked, with the state changes before the answer", () => {
  const asked = {
    interaction_id: "q",
    kind: "tool_confirmation" as const,
    title: "Send it?",
    why: "It leads out",
    fingerprint: "f",
    tool_name: "mail",
    args: { to: "ann" },
    expires_at: 100,
  };
  const place = { node_id: "a", activation_id: "a#1" };
  const answer = { interaction_id: "q", answer: "approve" as const, by: "ann" };
  const events = log(
    began({ draft: "old", kept: 1 }),
    { type: "interaction_requested", ...place, payload: asked },
    { type: "interaction_extended", ...place, payload: { interaction_id: "q", expires_at: 900 } },
    patch({ draft: "new" }, "b#1"),
    { type: "interaction_answered", ...place, payload: answer },
    patch({ draft: "later" }, "c#1"),
  );
  expect(askedPerson(events, "q")).toEqual({
    asked: { ...asked, expires_at: 900 },
    asked_seq: 3,
    asked_at: 20,
    answered: answer,
    answered_seq: 6,
    answered_at: 50,
    state: { draft: "new", kept: 1 },
    changed_meanwhile: [{ key: "draft", before: "old", after: "new" }],
  });
  expect(askedPerson(events, "another")).toBeNull();
});

test("state edits in a fork are found as writes and change conditions", () => {
  const events = log(
    began({ n: 1, note: "x" }),
    {
      type: "run_forked",
      payload: {
        from_run: "r0",
        from_seq: 2,
        patches: { state: { set: { n: 5 }, remove: ["note"] } },
        graph: "original",
        by: "ann",
      },
    },
    patch({ m: 1 }),
  );
  expect(["n", "note", "m"].map((name) => nextOccurrence(events, 2, { kind: "key", name }, 1))).toEqual([
    3, 3, 4,
  ]);
  expect(nextOccurrence(events, 4, { kind: "key", name: "n" }, -1)).toBe(3);
  expect(keyHistory(events, "n").at(-1)).toEqual({
    seq: 3,
    ts: 20,
    writer: "person:ann",
    by: "ann",
    before: 1,
    after: 5,
  });
  expect(whenTrue(events, "state.n > 3").held).toEqual([{ from: 3, to: null }]);
  const untouched = events.map(
    (event): RunEvent =>
      event.type === "run_forked" ? { ...event, payload: { ...event.payload, patches: {} } } : event,
  );
  expect(nextOccurrence(untouched, 2, { kind: "key", name: "n" }, 1)).toBeNull();
});

test("the change of a step lists state values, tokens and cost", () => {
  const before = momentOf(foldRun("r", log(began({ n: 0, gone: 1, list: [1] }))));
  const after = momentOf(foldRun("r", log(began({ n: 1, list: [1], more: "x" }))));
  const paid = {
    ...after,
    totals: {
      ...after.totals,
      cost_usd: 0.5,
      usage: { ...after.totals.usage, input_tokens: 7, output_tokens: 2 },
    },
  };
  expect(stepChange(before, paid)).toEqual({
    state: [
      { key: "n", before: 0, after: 1 },
      { key: "more", after: "x" },
      { key: "gone", before: 1 },
    ],
    tokens: 9,
    cost_usd: 0.5,
    unknown_cost_calls: 0,
  });
});
