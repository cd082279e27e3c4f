import { expect, test } from "vitest";
import { BREAKPOINT_KINDS, type Breakpoint } from "@/server/domain/agent/breakpoint/breakpoint";
import { RunConfig } from "@/server/domain/agent/outcome";
import { foldRun, type RunState } from "@/server/domain/run";
import type { NewEvent } from "@/server/domain/run/events";
import { draw } from "@/server/domain/testing/drawing";
import { PausePoints } from "./pause-points";

type Place = Parameters<PausePoints["at"]>[0];

/** Knows where a run is held whose state is this beside what every run has. */
function holdsOf(run: Partial<RunState["run"]>, mode: RunConfig["mode"] = "continuous") {
  const s = foldRun("run_1", [
    {
      type: "run_created",
      seq: 1,
      ts: 0,
      payload: {
        graph: draw("start > a > end"),
        roles: [],
        workflow_id: null,
        workflow_name: "Test",
        input: { who: "ann" },
        config: RunConfig.parse({ mode }),
        trigger: "test",
        provider_summary: null,
      },
    },
  ]);
  Object.assign(s.run, run);
  Object.assign(s.state, { n: 2 });
  Object.assign(s.outputs, { a: { x: 1 } });
  return { s, holds: new PausePoints(s, () => 5) };
}
const PLACE: Place = {
  point: "tool_call",
  node_id: "a",
  activation_id: "a#1",
  agent_id: "writer",
  tool: "send",
  key: "n",
  edge_id: "e1",
};

test.each<[Partial<Breakpoint>, boolean]>([
  [{}, true],
  [{ enabled: true }, true],
  [{ enabled: false }, false],
  [{ on: "llm_call" }, false],
  [{ node_id: "a", agent_id: "writer", tool: "send", key: "n", edge_id: "e1" }, true],
  [{ node_id: "b" }, false],
  [{ agent_id: "reader" }, false],
  [{ tool: "read" }, false],
  [{ key: "m" }, false],
  [{ edge_id: "e2" }, false],
  [{ condition: "state.n == 2 && nodes.a.x == 1 && input.who == 'ann' && run.id == 'run_1'" }, true],
  [{ condition: "state.n == 3" }, false],
  [{ condition: "state.missing == 3" }, false],
  [{ condition: "" }, true],
])("a breakpoint of %j pauses a tool call: %s", (more, isHeld) => {
  const breakpoint: Breakpoint = { on: "tool_call", ...more };
  const { holds } = holdsOf({ breakpoints: [breakpoint] });
  expect(holds.at(PLACE)).toEqual(isHeld ? { reason: "breakpoint", at: { ...PLACE, breakpoint } } : null);
});

test("a breakpoint with a hit count pauses from that hit on, and each breakpoint counts separately", () => {
  const [second, third]: Breakpoint[] = [
    { on: "tool_call", hit_count: 2 },
    { on: "tool_call", hit_count: 3 },
  ];
  if (!second || !third) return expect.fail("two are written above");
  const { holds } = holdsOf({ breakpoints: [third, second] });
  const held = () => holds.at(PLACE)?.at.breakpoint ?? null;
  expect([held(), held(), held(), held()]).toEqual([null, second, third, third]);
});

const step = (place: Partial<Place>): Place => ({ point: "node_start", node_id: "a", ...place });
test.each<[RunState["run"]["stepping"], Place, boolean, boolean]>([
  [undefined, step({}), false, false],
  ["node", step({}), false, true],
  ["node", step({}), true, false],
  ["node", step({ point: "node_end" }), false, false],
  ["node", step({ point: "llm_call", isTurn: true }), false, false],
  ["turn", step({}), false, true],
  ["turn", step({ point: "llm_call", isTurn: true }), false, true],
  ["turn", step({ point: "llm_call", isTurn: true }), true, false],
  ["turn", step({ point: "llm_call", isTurn: false }), false, false],
  ["turn", step({ point: "llm_call" }), false, false],
])("stepping by %s at %j, already paused: %s, pauses: %s", (stepping, place, hasStood, isHeld) => {
  const { holds } = holdsOf(stepping ? { stepping } : {});
  const { isTurn: _, ...at } = place;
  expect(holds.at(place, hasStood)).toEqual(isHeld ? { reason: "step", at } : null);
});

test.each([
  ["hitl", true, true, true],
  ["hitl", true, false, false],
  ["hitl", undefined, true, false],
  ["breakpoint", true, true, false],
] as const)(
  "mode %s, with pausing enabled: %s and side effects: %s, pauses a call: %s",
  (mode, can_hold, hasEffect, isHeld) => {
    const { holds } = holdsOf(can_hold ? { can_hold } : {}, mode);
    const place: Place = { point: "tool_call", tool: "send", hasEffect };
    expect([holds.at(place), holds.isWatching]).toEqual([
      isHeld ? { reason: "breakpoint", at: { point: "tool_call", tool: "send" } } : null,
      mode === "hitl" && can_hold === true,
    ]);
  },
);

test("a run is watched if it has breakpoints or is stepping", () => {
  expect(
    [{}, { breakpoints: [] }, { breakpoints: [{ on: "error" as const }] }, { stepping: "node" as const }].map(
      (run) => holdsOf(run).holds.isWatching,
    ),
  ).toEqual([false, false, true, true]);
});

const AT = { node_id: "a", activation_id: "a#1", agent_id: "writer", task_id: "t1" };
/** Only what names the place of an event counts here. */
const event = (type: string, payload: object = {}, at: object = AT) => ({ type, payload, ...at }) as NewEvent;
test.each<[NewEvent, object | null]>([
  [event("node_completed"), { ...AT, point: "node_end" }],
  [event("node_completed", {}, { node_id: "a" }), { node_id: "a", point: "node_end" }],
  [event("node_completed", {}, {}), { point: "node_end" }],
  [event("node_failed"), { ...AT, point: "error" }],
  [event("agent_finished", { status: "failed" }), { ...AT, point: "error" }],
  [event("agent_finished", { status: "completed" }), null],
  [event("handed_off", { to: "reader" }), { ...AT, point: "handoff", agent_id: "reader" }],
  [event("loop_iteration", { iteration: 3 }), { ...AT, point: "loop_iteration", iteration: 3 }],
  [event("edge_taken", { edge_id: "e1" }), { ...AT, point: "edge", edge_id: "e1" }],
  [event("state_patched", { set: { n: 1, m: 2 } }), { ...AT, point: "state_write", key: "n" }],
  [event("state_patched", { set: {}, changed: { m: [] } }), { ...AT, point: "state_write", key: "m" }],
  [event("state_patched", { set: {} }), null],
  [event("run_started"), null],
])("an event leads to its pause point: %j", (given, place) => {
  const breakpoints: Breakpoint[] = BREAKPOINT_KINDS.map((on) => ({ on }));
  const { holds } = holdsOf({ breakpoints });
  holds.heed(given);
  const breakpoint = breakpoints.find(({ on }) => place && "point" in place && on === place.point);
  expect(holds.due).toEqual(place && { reason: "breakpoint", at: { ...place, breakpoint } });
});

test("the first pause point stays due until the run pauses there", () => {
  const { holds } = holdsOf({ breakpoints: [{ on: "node_end" }, { on: "edge" }] });
  const dueAfter = (given: NewEvent) => {
    holds.heed(given);
    return holds.due?.at.point;
  };
  const edge = event("edge_taken", { edge_id: "e1" });
  expect([dueAfter(event("node_completed")), dueAfter(edge)]).toEqual(["node_end", "node_end"]);
  holds.due = null;
  expect(dueAfter(edge)).toBe("edge");
});

test("no event pauses a run without breakpoints, even while stepping", () => {
  const { holds } = holdsOf({ stepping: "node" });
  holds.heed(event("node_completed"));
  expect(holds.due).toBeNull();
});

test("a removed breakpoint counts from zero when it is set again, and a kept breakpoint keeps its count", () => {
  const [third, other]: Breakpoint[] = [
    { on: "tool_call", hit_count: 3 },
    { on: "tool_call", node_id: "b" },
  ];
  const { s, holds } = holdsOf({ breakpoints: [third!], edition: 3 });
  const set = (...breakpoints: Breakpoint[]) => {
    s.run.breakpoints = breakpoints;
    holds.heed({ type: "breakpoints_set", payload: { breakpoints, by: "ann" } });
  };
  const come = () => holds.at(PLACE) !== null;
  expect([come(), come()]).toEqual([false, false]);
  set(third!, other!);
  expect(come()).toBe(true);
  set();
  set(third!);
  expect([come(), come(), come()]).toEqual([false, false, true]);
});
