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
  [{ point: "tool_call", node_id, agent_id, tool: "look" }, "before ann uses look"],
  [{ point: "tool_call" }, "before a node uses a tool"],
  [{ point: "handoff", agent_id }, "where the work is handed to ann"],
  [{ point: "error", node_id }, "where “write” failed"],
  [{ point: "state_write", key: "draft" }, 'where "draft" was written'],
  [{ point: "state_write" }, "where the state was written"],
  [{ point: "loop_iteration", node_id, iteration: 3 }, "at round 3 of “write”"],
  [{ point: "loop_iteration", node_id }, "at round 1 of “write”"],
  [{ point: "edge", node_id }, "on the way to “write”"],
])("a person reads where a run was paused: %o", (place, text) => {
  expect(describePausedPlace(place, nameOf)).toBe(text);
});

test("an instruction is for a node, an agent or everybody", () => {
  const targets = [{ node_id }, { agent_id }, { run: true as const }];
  expect(targets.map((target) => describeTarget(target, nameOf))).toEqual([
    "“write”",
    "ann",
    "everybody in the run",
  ]);
});
