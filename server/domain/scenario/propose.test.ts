import { expect, test } from "vitest";
import { foldRun, type RunState } from "@/server/domain/run";
import type { RunEvent } from "@/server/domain/run/events";
import { peopleOf, proposedExpectations } from "./propose";

const eventsOf = (...made: object[]) => made.map((one, at) => ({ seq: at + 1, ts: 0, ...one }) as RunEvent);
const began = (node_id: string) => ({ type: "node_started", node_id, payload: { attempt: 1 } });
const asked = (node_id?: string) => ({ type: "interaction_requested", node_id, payload: {} });
const stateOf = (run: object, state: object = {}, input: object = {}) => {
  const empty = foldRun("", []);
  return { ...empty, state, input, run: { ...empty.run, ...run } } as RunState;
};

test("a successful run proposes expectations about its status, path, questions and values", () => {
  const long = "x".repeat(79);
  const state = stateOf(
    { final_status: "COMPLETED", reason_code: "DONE" },
    {
      z: 1,
      given: "in",
      final_output_z: 1,
      gone: undefined,
      short: "x".repeat(78),
      long,
      list: [long],
      object: { long },
      nothing: null,
    },
    { given: "in" },
  );
  expect(proposedExpectations(eventsOf(began("a"), asked("a"), asked(), began("b")), state)).toEqual([
    { kind: "status", is: "COMPLETED" },
    { kind: "path", nodes: ["a", "b"], mode: "exactly" },
    { kind: "questions", nodes: ["a", ""] },
    { kind: "text", of: "state", key: "list", schema: { type: "array" } },
    { kind: "text", of: "state", key: "long", schema: { type: "string" } },
    { kind: "text", of: "state", key: "nothing", equals: null },
    { kind: "text", of: "state", key: "object", schema: { type: "object" } },
    { kind: "text", of: "state", key: "short", equals: "x".repeat(78) },
    { kind: "text", of: "state", key: "z", equals: 1 },
  ]);
});

test("a failed run proposes its reason, and a run without questions proposes none", () => {
  expect(proposedExpectations([], stateOf({ final_status: "ERROR", reason_code: "BROKE" }))).toEqual([
    { kind: "status", is: "ERROR", reason: "BROKE" },
    { kind: "questions", count: 0 },
  ]);
  expect(proposedExpectations([], stateOf({ final_status: "ERROR", reason_code: null }))).toEqual([
    { kind: "status", is: "ERROR" },
    { kind: "questions", count: 0 },
  ]);
  expect(proposedExpectations([], stateOf({}))).toEqual([{ kind: "questions", count: 0 }]);
});

test("a path or question list over the limit is left out or counted", () => {
  const of = (steps: number, questions: number) => {
    const events = eventsOf(
      ...Array.from({ length: steps }, () => began("a")),
      ...Array.from({ length: questions }, () => asked("a")),
    );
    return proposedExpectations(events, stateOf({})).map((one) =>
      one.kind === "path"
        ? one.nodes.length
        : one.kind === "questions"
          ? (one.nodes?.length ?? `count ${one.count}`)
          : one.kind,
    );
  };
  expect([of(1000, 200), of(1001, 201)]).toEqual([[1000, 200], ["count 201"]]);
  const keys = Object.fromEntries(Array.from({ length: 210 }, (_, at) => [`k${at}`, at]));
  expect(proposedExpectations([], stateOf({}, keys)).length).toBe(200);
});

test("people's answers are listed in order, without fields that were not set", () => {
  const interaction = (answered?: object, title = "Why?") => ({
    node_id: "a",
    requested: { kind: "approval", title },
    answered,
  });
  const interactions = {
    i1: interaction({ answer: "chosen", option: "ship", value: null, calls: [0], content: {}, message: "" }),
    i2: interaction(),
    i3: interaction({ answer: "expired" }, "x".repeat(501)),
  } as unknown as RunState["interactions"];
  expect(peopleOf({ interactions })).toEqual([
    {
      node_id: "a",
      kind: "approval",
      title: "Why?",
      answer: "ship",
      value: null,
      calls: [0],
      content: {},
      message: "",
    },
    { node_id: "a", kind: "approval", title: "x".repeat(500), answer: "expired" },
  ]);
});
