import { expect, test } from "vitest";
import type { NewEvent } from "../events";
import type { ForkPatches } from "../fork/lineage";
import { logOf } from "../testing";
import {
  describeCommand,
  doneBy,
  keptCommands,
  notRepeated,
  type RepeatedCommand,
  readCommands,
  worthRepeating,
} from "./repeated";

const repeated = (
  command: RepeatedCommand["command"],
  more: Partial<RepeatedCommand> = {},
): RepeatedCommand => ({
  after: ["start#1/1", "write#2/1/Worker/turn0"],
  by: "ann",
  command,
  ...more,
});
const edit = repeated({ kind: "edit_state", set: { n: 1 }, remove: ["m"] }, { while_paused: true });
const graph = { nodes: { write: { name: "Write" } } };

test("a command is described with its author and place", () => {
  expect(describeCommand(edit, graph)).toBe(
    "ann, after Write, execution 2, while it is paused: edited the state: n, m",
  );
  expect(describeCommand(repeated({ kind: "resume" }, { after: [] }), graph)).toBe(
    "ann, immediately: resumes it",
  );
  expect(doneBy([edit, repeated({ kind: "resume" }), edit])).toEqual(["edited the state (2 times)"]);
});

test("a run with only pause and step commands has nothing to repeat", () => {
  const held = [repeated({ kind: "pause" }), repeated({ kind: "step", granularity: "node" })];
  expect(worthRepeating(held)).toEqual([]);
  expect(worthRepeating([...held, edit])).toHaveLength(3);
});

test.each<[RepeatedCommand["command"], string]>([
  [{ kind: "edit_state", set: {}, remove: ["m"] }, "edited the state: m"],
  [{ kind: "inject", target: { run: true }, text: "x".repeat(201) }, `messaged agents: ${"x".repeat(200)}`],
  [{ kind: "skip_node", activation_id: "a#1", output: {} }, "skipped a node: a#1"],
  [{ kind: "retry_node", activation_id: "a#1" }, "retried a node: a#1"],
  [{ kind: "override_agent", activation_id: "a#1", agent_id: "ann" }, "overrode the next agent: a#1"],
  [{ kind: "override_next", activation_id: "a#1", to: "b" }, "overrode the next node: b after a#1"],
  [{ kind: "raise_limit", limit: "max_steps", to: 9 }, "raised a limit: max_steps to 9"],
  [{ kind: "signal", name: "go", data: null }, "sent a signal: go"],
  [{ kind: "cancel", reason: "enough" }, "cancelled it"],
  [{ kind: "edit_plan", activation_id: "a#1", edit: { kind: "cancel", task_id: "t" } }, "edited a plan"],
  [{ kind: "edit_team", node_id: "a", edit: { kind: "remove", agent_id: "ann" } }, "edited a crew"],
  [{ kind: "pause" }, "pauses it"],
  [{ kind: "step", granularity: "turn" }, "steps it"],
  [{ kind: "set_breakpoints", breakpoints: [] }, "sets its breakpoints"],
])("a command is described with its details: %o", (command, text) => {
  expect(describeCommand(repeated(command, { after: ["gone#1/1"] }), graph)).toBe(`ann, after gone: ${text}`);
});

test("the place of a command is its node's name, or its id without a name", () => {
  const after = (key: string) =>
    describeCommand(repeated({ kind: "pause" }, { after: [key] }), { nodes: { a: { name: "" } } });
  expect(after("answer:a#1/q")).toBe("ann, after a: pauses it");
  expect(after("a#3")).toBe("ann, after a, execution 3: pauses it");
  expect(after("b")).toBe("ann, after b: pauses it");
});

test("commands are saved and read back unchanged, and unknown ones are skipped", () => {
  const kept = keptCommands([edit, repeated({ kind: "pause" })]);
  expect(readCommands([...kept, { after: [], by: "ann", command: { kind: "fly" } }])).toEqual([
    edit,
    repeated({ kind: "pause" }),
  ]);
});

test("fork edits that cannot be repeated are listed once each", () => {
  const forked = (patches: ForkPatches, graph: "original" | "latest" = "original"): NewEvent => ({
    type: "run_forked",
    payload: { from_run: "r", from_seq: 1, patches, graph, by: "ann" },
  });
  const texts = {
    state: "state edits made at the fork",
    messages: "message edits made at the fork",
    plan: "plan edits made at the fork",
    graph: "the change to another workflow version at the fork",
  };
  const reasons = (...events: NewEvent[]) => notRepeated(logOf(events));
  const state = { state: { set: {}, remove: [] } };
  expect(reasons()).toEqual([]);
  expect(reasons(forked({}))).toEqual([]);
  expect(reasons(forked(state), forked(state))).toEqual([texts.state]);
  expect(reasons(forked({ messages: [] }), forked({ plan: [] }, "latest"))).toEqual([
    texts.messages,
    texts.plan,
    texts.graph,
  ]);
  expect(reasons({ type: "run_started", payload: {} })).toEqual([]);
});
