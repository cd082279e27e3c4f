import { expect, test } from "vitest";
import type { PausedPlace } from "../events/control-events";
import { describePausedPlace, describeTarget } from "./control-labels";

const nameOf = (id: string) => `“${id}”`;
const node_id = "write";
const agent_id = "ann";

test.each<[PausedPlace, string]>([
  [{ point: "anywhere", node_id }, "where it was"],
  [{ point: "node_start", node_id }, "before “write”"],
  [{ point: "node_end" }, "after a node"],
  [{ point: "llm_call", node_id, agent_id }, "before a model call of ann"],
  [{ point: "llm_call", node_id }, "before a model call of “write”"],
  [{ point: "tool_call", node_id, agent_id, tool: "look" }, "before ann calls look"],
  [{ point: "tool_call" }, "before a node calls a tool"],
  [{ point: "handoff", agent_id }, "at a handoff to ann"],
  [{ point: "error", node_id }, "where “write” failed"],
  [{ point: "state_write", key: "draft" }, 'when "draft" was written'],
  [{ point: "state_write" }, "when the state was written"],
  [{ point: "loop_iteration", node_id, iteration: 3 }, "at iteration 3 of “write”"],
  [{ point: "loop_iteration", node_id }, "at iteration 1 of “write”"],
  [{ point: "edge", node_id }, "on the connection to “write”"],
])("the label of a pause names its place: %o", (place, text) => {
  expect(describePausedPlace(place, nameOf)).toBe(text);
});

test("an instruction's target is a node, an agent or all agents of the run", () => {
  const targets = [{ node_id }, { agent_id }, { run: true as const }];
  expect(targets.map((target) => describeTarget(target, nameOf))).toEqual([
    "“write”",
    "ann",
    "all agents of the run",
  ]);
});
