import { expect, test } from "vitest";
import { USUAL_CONFIRMATION } from "@/server/domain/agent/outcome";
import { type ConfirmationPolicy, RoleDefinition } from "@/server/domain/agent/role";
import { writersNode } from "@/server/domain/testing/crew-node";
import { draw } from "@/server/domain/testing/drawing";
import { sketchOf } from "./sketch";
import {
  describeConfirmation,
  toolsAsked,
  withAllowedTools,
  withSafeConfirmation,
  withSafeRuns,
} from "./tools-asked";

const role = (tools: string[], confirmation?: ConfirmationPolicy): RoleDefinition =>
  RoleDefinition.parse({ name: "Writer", tools, ...(confirmation ? { confirmation } : {}) });
const risky = (threshold: "LOW" | "MEDIUM" | "HIGH", confirm_unknown = true): ConfirmationPolicy => ({
  kind: "risky",
  threshold,
  confirm_unknown,
});
const never: ConfirmationPolicy = { kind: "never" };
const always: ConfirmationPolicy = { kind: "always" };

test("an imported role gets only tools that a person allows or the existing role has", () => {
  const theirs = role(["web", "shell", "web", "mail"]);
  expect(toolsAsked(theirs, undefined)).toEqual(["web", "shell", "mail"]);
  expect(toolsAsked(theirs, role(["mail", "other"]))).toEqual(["web", "shell"]);
  expect(withAllowedTools(theirs, role(["mail"]), ["web"])).toEqual({
    role: role(["web", "web", "mail"]),
    left_out: ["shell"],
  });
  expect(withAllowedTools(theirs, role(["mail"]), ["web", "shell"])).toEqual({ role: theirs, left_out: [] });
});

test.each<
  [string, ConfirmationPolicy | undefined, ConfirmationPolicy | undefined, ConfirmationPolicy | undefined]
>([
  ["the imported role always asks", always, never, always],
  ["the existing role asks for more", never, always, always],
  ["the existing role decides", risky("HIGH"), risky("LOW"), risky("LOW")],
  ["the existing role never asks", risky("HIGH"), never, never],
  ["there is no existing policy", risky("HIGH"), undefined, risky("HIGH")],
  ["a file can't turn it off", never, undefined, undefined],
  ["no policy is set", undefined, undefined, undefined],
])("an imported role gets a safe confirmation policy: %s", (_, theirs, ours, expected) => {
  expect(withSafeConfirmation(role(["web"], theirs), role([], ours))).toEqual(role(["web"], expected));
  if (!ours) expect(withSafeConfirmation(role(["web"], theirs), undefined)).toEqual(role(["web"], expected));
});

test.each<[ConfirmationPolicy | undefined, ConfirmationPolicy | null]>([
  [undefined, null],
  [always, null],
  [risky("HIGH"), null],
  [risky("HIGH", false), risky("HIGH", false)],
  [never, never],
])(
  "runs of an imported workflow ask for confirmation of at least high or unknown risk: %j",
  (confirmation, had) => {
    const drawn = draw("start > end");
    const graph = { ...drawn, config: { ...drawn.config, confirmation } } as typeof drawn;
    const safe = withSafeRuns(graph);
    expect(safe.had).toEqual(had);
    expect(safe.graph.config?.confirmation).toEqual(had === null ? confirmation : USUAL_CONFIRMATION);
    const bare = { ...drawn, config: undefined } as typeof drawn;
    expect(withSafeRuns(bare)).toEqual({ graph: bare, had: null });
  },
);

test("confirmation policies have readable descriptions", () => {
  expect(describeConfirmation(undefined)).toBe("according to the run's policy");
  expect(describeConfirmation(never)).toBe("never");
  expect(describeConfirmation(always)).toBe("before every tool call");
  expect(describeConfirmation(risky("LOW"))).toBe("before every tool call of known risk");
  expect(describeConfirmation(risky("MEDIUM"))).toBe("before tool calls of medium or high risk");
  expect(describeConfirmation(risky("HIGH"))).toBe("before tool calls of high risk");
  expect(describeConfirmation({ kind: "tools", tools: [] })).toBe("never");
  expect(describeConfirmation({ kind: "tools", tools: ["web", "mail"] })).toBe("before web, mail");
  expect(describeConfirmation({ kind: "when", when: "call.cost > 1" })).toBe("when call.cost > 1");
});

test("a workflow sketch keeps positions and omits notes and their edges", () => {
  const graph = draw("start > a > end; note > a", { note: { node_type: "note", config: { text: "n" } } });
  for (const [at, node] of Object.values(graph.nodes).entries()) node.ui = { x: at, y: at * 10 };
  expect(sketchOf(graph)).toEqual({
    nodes: [
      { silhouette: "start", x: 0, y: 0 },
      { silhouette: "data", x: 1, y: 10 },
      { silhouette: "end", x: 2, y: 20 },
    ],
    edges: [
      [0, 1],
      [1, 2],
    ],
  });
});

test("a crew's sketch shows its process and number of members", () => {
  const graph = draw("start > a > end", { a: writersNode() });
  expect(sketchOf(graph).nodes[1]).toMatchObject({
    silhouette: "crew",
    crew: { process: "sequential", members: 2 },
  });
});

test("nodes without a position are laid out in columns by their distance from the root", () => {
  const spots = (text: string) => sketchOf(draw(text)).nodes.map(({ x, y }) => [x / 300, y / 140]);
  expect(spots("start > a > c > end; start > b > c; d > end")).toEqual([
    [0, 0],
    [1, 0],
    [2, 0],
    [1, 1],
    [1, 2],
    [0, 1],
  ]);
  // In a circle, the first node is where it begins.
  expect(spots("a > b > c; c > a")).toEqual([
    [0, 0],
    [1, 0],
    [2, 0],
  ]);
  expect(sketchOf({ nodes: {}, edges: [] })).toEqual({ nodes: [], edges: [] });
});
