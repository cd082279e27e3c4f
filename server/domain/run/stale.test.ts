import { describe, expect, test } from "vitest";
import { RoleDefinition } from "@/server/domain/agent/role";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { draw } from "@/server/domain/testing/drawing";
import type { Pins } from "./commands/pins";
import { staleOutputs } from "./stale";
import { completed, created, fold, ready, started } from "./testing";

const agent = {
  node_type: "agent_task",
  config: { required_role: "Writer", task_description_template: "x" },
};
const text = "start > a > b > c > end";
const drawn = draw(text, { b: agent, a: { name: "" } });
const writer = (more: object = {}) => RoleDefinition.parse({ name: "Writer", ...more });
const roles = [writer()];
const did = (graph: WorkflowGraph, ids: readonly string[], pins?: Pins) =>
  fold(
    created(graph, { roles, ...(pins ? { pins } : {}) }),
    ...ids.flatMap((id) => [ready(id), started(id), completed(id)]),
  );
const all = ["start", "a", "b", "c"];
const run = did(drawn, all);
const behind = (name: string) => `${name}, an upstream node, may now return a different output.`;

test("no output is stale if only names, positions and descriptions changed", () => {
  const graph = draw(text, {
    b: { ...agent, name: "Other", description: "about", ui: { x: 1, y: 2 } },
    a: { name: "A" },
  });
  const painted = [writer({ color: "red", icon: "pen", version: 2 })];
  expect(staleOutputs(run, { graph: drawn, roles })).toEqual([]);
  expect(staleOutputs(run, { graph, roles: painted })).toEqual([]);
  const [first, ...rest] = graph.edges;
  const renamed = { ...graph, edges: [...rest, { ...first!, id: "other" }] };
  expect(staleOutputs(run, { graph: renamed, roles })).toEqual([]);
});

describe("stale outputs after an edit", () => {
  const one = (node_id: string, reason: string) => ({ node_id, reason });
  test.each<[string, WorkflowGraph, RoleDefinition[], unknown[]]>([
    [
      "the settings of a node",
      draw(text, { b: agent, a: { name: "", config: { set: { a: '"z"' } } } }),
      roles,
      [one("a", "It has been edited since."), one("b", behind("a")), one("c", behind("a"))],
    ],
    [
      "a role",
      drawn,
      [writer({ description: "kind" })],
      [one("b", "The role Writer has been edited since."), one("c", behind("b"))],
    ],
    [
      "a removed role",
      drawn,
      [],
      [one("b", "The role Writer has been edited since."), one("c", behind("b"))],
    ],
    [
      "a removed node",
      draw("start > b > c > end", { b: agent }),
      roles,
      [
        one("a", "It is no longer in the workflow."),
        one("b", "Its incoming connections have changed since."),
        one("c", behind("b")),
      ],
    ],
    [
      "another route",
      draw(`${text}; start > c`, { b: agent, a: { name: "" } }),
      roles,
      [one("c", "Its incoming connections have changed since.")],
    ],
  ])("an edited part and the nodes after it are stale: %s", (_what, graph, now, stale) => {
    expect(staleOutputs(run, { graph, roles: now })).toEqual(stale);
  });

  test("an output that never existed isn't stale, and the nearest of several causes is named", () => {
    const graph = draw(text, {
      b: { ...agent, config: { required_role: "Writer", task_description_template: "y" } },
      a: { name: "", config: { set: { a: '"z"' } } },
    });
    expect(staleOutputs(did(drawn, ["a", "c"]), { graph, roles })).toEqual([
      one("a", "It has been edited since."),
      one("c", behind("a")),
    ]);
    expect(staleOutputs(run, { graph, roles }).at(-1)).toEqual(one("c", behind("b")));
  });

  test("the search for stale outputs ends at a back edge", () => {
    const loop = draw("start > a > r; r again> a; r out> c > end");
    const ids = ["start", "a", "r", "c"];
    expect(staleOutputs(did(loop, ids), { graph: loop, roles })).toEqual([]);
    const other = draw("start > a > r; r again> a; r out> c > end", {
      r: { config: { kind: "value", value: "state.z" } },
    });
    expect(staleOutputs(did(loop, ids), { graph: other, roles })).toEqual([
      one("a", behind("r")),
      one("r", "It has been edited since."),
      one("c", behind("r")),
    ]);
  });
});

describe("pinned outputs", () => {
  const pin = (n: number, labels?: string[]): Pins => ({
    c: { output: { n }, ...(labels ? { labels } : {}) },
  });
  const reason = (then: Pins | undefined, now: Pins | undefined) =>
    staleOutputs(did(drawn, all, then), { graph: drawn, roles, ...(now ? { pins: now } : {}) }).map(
      (one) => one.reason,
    )[0] ?? null;
  test.each<[string, Pins | undefined, Pins | undefined, string | null]>([
    ["is fresh if it is unchanged", pin(1), pin(1), null],
    ["is fresh if its labels are unchanged", pin(1, ["x"]), pin(1, ["x"]), null],
    ["is fresh if its labels were missing and are now empty", pin(1), pin(1, []), null],
    ["is stale if another output is pinned", pin(1), pin(2), "A different output has been pinned since."],
    [
      "is stale if its labels changed",
      pin(1, ["x"]),
      pin(1, ["y"]),
      "A different output has been pinned since.",
    ],
    ["is stale if it was pinned since", undefined, pin(1), "An output has been pinned since."],
    ["is stale if its pin was removed", pin(1), {}, "Its output was pinned in this run, but no longer is."],
    ["is stale if nothing is pinned now", pin(1), undefined, "Its output was pinned in this run."],
    ["is fresh if another node is pinned", undefined, { x: { output: {} } }, null],
  ])("a pinned output %s", (_what, then, now, expected) => {
    expect(reason(then, now)).toBe(expected);
  });
});
