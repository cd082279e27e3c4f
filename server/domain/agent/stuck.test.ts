import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { containing } from "@/server/domain/testing/containing";
import { type AgentStep, findStuck, similarity } from "./stuck";

const call = (tool_name: string, q: string | number = "x", thought?: string): AgentStep => ({
  kind: "action",
  agent: "a",
  tool_name,
  args: { q },
  ...(thought === undefined ? {} : { thought }),
});
const got = (text: string, status = 200): AgentStep => ({ kind: "observation", agent: "a", status, text });
const message = (text: string): AgentStep => ({ kind: "message", agent: "a", text });
const hand = (agent: string, to: string): AgentStep => ({ kind: "handoff", agent, to });
const round = (state_hash: string): AgentStep => ({ kind: "iteration", node_id: "review", state_hash });
const human: AgentStep = { kind: "human" };
const times = (n: number, ...steps: AgentStep[]) => Array.from({ length: n }, () => steps).flat();
const verdict = (...steps: AgentStep[]) => {
  const stuck = findStuck(steps);
  return stuck && `${stuck.severity} ${stuck.pattern}`;
};

describe("repeated actions", () => {
  const search = [call("web_search"), got("nothing")];

  test("an action with the same result gets a nudge at the fourth call, then a stop", () => {
    expect(verdict(...times(3, ...search))).toBeNull();
    const message = containing("web_search with the same arguments 4 times");
    expect(findStuck(times(4, ...search))).toEqual({ pattern: "same_result", severity: "nudge", message });
    const nudged: AgentStep[] = [...times(4, ...search), { kind: "nudge", pattern: "same_result" }];
    expect(verdict(...nudged)).toBeNull();
    expect(verdict(...nudged, ...search)).toBe("stop same_result");
    // Another streak is told of anew.
    expect(verdict(...nudged, ...times(4, call("web_search", "y"), got("nothing")))).toBe(
      "nudge same_result",
    );
    expect(findStuck(times(4, ...search), { nudges: false })?.severity).toBe("stop");
  });

  test("actions count as repeated only if thought, arguments and result match", () => {
    const different: AgentStep[][] = [0, 1, 2, 3].map((n) => [
      call("web_search", "x", `${n}`),
      got("nothing"),
    ]);
    expect(verdict(...different.flat())).toBeNull();
    expect(verdict(...[0, 1, 2, 3].flatMap((n) => [call("web_search", n), got("nothing")]))).toBeNull();
    expect(verdict(...[0, 1, 2, 3].flatMap((n) => [call("web_search"), got(`${n}`)]))).toBeNull();
  });

  test("a repeated failure gets a nudge at three and a stop at four, whatever the thoughts", () => {
    const fail = (n: number): AgentStep[] =>
      Array.from({ length: n }, (_, i) => [call("file_read", "a", `try ${i}`), got("not there", 404)]).flat();
    expect(verdict(...fail(2))).toBeNull();
    const message = containing("file_read with the same arguments 3 times");
    expect(findStuck(fail(3))).toEqual({ pattern: "same_failure", severity: "nudge", message });
    expect(verdict(...fail(3), { kind: "nudge", pattern: "same_failure" })).toBeNull();
    expect(verdict(...fail(4))).toBe("stop same_failure");
    expect(findStuck(fail(3), { nudges: false })).toBeNull();
    expect(verdict(...fail(3), call("file_list"), got("a, b"), ...fail(2))).toBeNull();
  });

  test("stuck detection pairs parallel calls with their results by ID", () => {
    const turn = (n: number): AgentStep[] => [
      { kind: "action", agent: "a", tool_name: "one", args: {}, call_id: `x${n}` },
      { kind: "action", agent: "a", tool_name: "two", args: {}, call_id: `y${n}` },
      { kind: "observation", agent: "a", status: 500, text: "no", call_id: `y${n}` },
      { kind: "observation", agent: "a", status: 200, text: "yes", call_id: `x${n}` },
    ];
    expect(verdict(...[1, 2, 3].flatMap(turn))).toBe("nudge alternating");
  });
});

test("two alternating actions are detected after six calls", () => {
  const there = [call("file_read"), got("1")];
  const back = [call("file_write"), got("ok")];
  expect(verdict(...times(2, ...there, ...back), ...there)).toBeNull();
  expect(verdict(...times(3, ...there, ...back))).toBe("nudge alternating");
  expect(verdict(...times(2, ...there, ...back), call("file_read"), got("2"), ...back)).toBeNull();
});

test("three similar messages in a row count as a monologue", () => {
  const text = "I will now look into the question of the bees and report what I find.";
  expect(verdict(message(text), message(text))).toBeNull();
  expect(verdict(message(text), message(`${text.toUpperCase()} `), message(text))).toBe("nudge monologue");
  expect(verdict(message(text), message("Something else entirely."), message(text))).toBeNull();
  expect(verdict(message(text), message(text), call("calculator"), got("4"), message(text))).toBeNull();
});

test("three condensations in a row count as a loop", () => {
  const cut: AgentStep = { kind: "condensation" };
  expect(verdict(cut, cut)).toBeNull();
  expect(verdict(cut, cut, cut)).toBe("nudge condensation_loop");
  expect(verdict(cut, cut, message("on it"), cut)).toBeNull();
});

test("handoffs back and forth without new facts are detected, however long each turn is", () => {
  const chat = times(4, message("Please take over."), message("No, this is yours."));
  const hops = [hand("coder", "tester"), hand("tester", "coder")];
  expect(verdict(...hops, ...hops)).toBeNull();
  expect(verdict(...hops, ...hops, hops[0]!)).toBe("nudge handoff_ping_pong");
  expect(verdict(hops[0]!, ...chat, hops[1]!, ...chat, hops[0]!, ...chat, hops[1]!, ...chat, hops[0]!)).toBe(
    "nudge handoff_ping_pong",
  );
  const fact = (n: number) => [call("file_read", n), got(`${n}`)];
  expect(verdict(...hops, ...hops, ...fact(1), hops[0]!)).toBeNull();
  // A result that was there before is no news.
  expect(verdict(...fact(1), ...hops, ...fact(1), ...hops, hops[0]!)).toBe("nudge handoff_ping_pong");
  expect(verdict(...hops, hand("coder", "writer"), hand("writer", "coder"), hops[0]!)).toBeNull();
});

test("a loop with unchanged state gets a nudge at once and a stop on the second repeat", () => {
  expect(verdict(round("1"), round("2"))).toBeNull();
  expect(verdict(round("1"), message("done"), round("1"))).toBe("nudge unchanged_loop");
  expect(verdict(round("1"), round("1"), round("1"))).toBe("stop unchanged_loop");
});

test("only the last 20 steps count toward repeated actions", () => {
  const slow = [call("slow"), got("same")];
  const chat = (n: number) => Array.from({ length: n }, (_, i) => message(`${i} `.repeat(9)));
  expect(verdict(...times(3, ...slow), ...chat(12), ...slow)).toBe("nudge same_result");
  expect(verdict(...times(3, ...slow), ...chat(13), ...slow)).toBeNull();
});

const anyStep: fc.Arbitrary<AgentStep> = fc.oneof(
  fc.record({ n: fc.constantFrom("a", "b") }).map(({ n }) => call(n)),
  fc.constantFrom(got("1"), got("no", 404), message("hm"), hand("a", "b"), hand("b", "a"), round("1")),
  fc.constant<AgentStep>({ kind: "condensation" }),
  fc.constant<AgentStep>({ kind: "nudge", pattern: "monologue" }),
);

test("steps before a person's message are ignored", () => {
  fc.assert(
    fc.property(fc.array(anyStep), fc.array(anyStep), (before, after) => {
      expect(findStuck([...before, human, ...after])).toEqual(findStuck(after));
      expect(findStuck([...before, human])).toBeNull();
    }),
  );
});

test("a nudge suppresses its own pattern until the next step", () => {
  fc.assert(
    fc.property(fc.array(anyStep, { minLength: 3 }), (steps) => {
      const stuck = findStuck(steps);
      if (!stuck || stuck.severity === "stop") return;
      expect(findStuck([...steps, { kind: "nudge", pattern: stuck.pattern }])?.pattern).not.toBe(
        stuck.pattern,
      );
    }),
  );
});

test("similarity is symmetric, between 0 and 1, and 1 for equal text", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      const alike = similarity(a, b);
      expect(similarity(b, a)).toBe(alike);
      expect(alike >= 0 && alike <= 1).toBe(true);
      expect(similarity(a, ` ${a}\n`)).toBe(1);
    }),
  );
  expect(similarity("night", "nacht")).toBe(0.25);
});
