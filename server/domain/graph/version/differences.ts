import { isText } from "@/server/domain/base/guards";
import { getNodeKind } from "@/server/domain/nodes";
import type { WorkflowGraph } from "../graph";
import { type Change, diffGraphs, diffVersions, type PathStep, type VersionContent } from "./version-diff";

/** One difference between two versions, for people. */
export interface Difference {
  kind: "added" | "removed" | "changed" | "moved";
  /** What differs. `id`: of the node, edge or group, the name of the role, or the key of the permission. */
  at: { kind: "name" | "node" | "edge" | "group" | "settings" | "role" | "permission"; id?: string };
  text: string;
  /** The parts that changed. */
  details?: string;
  /** The whole texts that changed. */
  texts?: { label: string; before: string; after: string }[];
}

interface Named {
  name: string;
  graph: WorkflowGraph;
}

/** How `after` differs from `before`; nodes that only moved come last, since they matter least. */
export const differences = (before: Named, after: Named): Difference[] => [
  ...(before.name === after.name ? [] : [renamed(before.name, after.name)]),
  ...inOrder(graphDifferences(before.graph, after.graph, diffGraphs(before.graph, after.graph))),
];

/** How two versions differ, including roles and permissions: exactly, and as text for people. */
export function versionDifferences(
  before: VersionContent,
  after: VersionContent,
): { changes: Change[]; differences: Difference[] } {
  const changes = diffVersions(before, after);
  const inGraph = changes.flatMap(({ path: [first, ...path], ...change }) =>
    first === "graph" ? { ...change, path } : [],
  );
  return {
    changes,
    differences: inOrder([
      ...graphDifferences(before.graph, after.graph, inGraph),
      ...roleDifferences(changes),
      ...permissionDifferences(before.withheld, after.withheld),
    ]),
  };
}

const renamed = (before: string, after: string): Difference => ({
  kind: "changed",
  at: { kind: "name" },
  text: `Renamed from “${before}” to “${after}”`,
});

const inOrder = (list: readonly Difference[]): Difference[] =>
  list.toSorted((x, y) => Number(x.kind === "moved") - Number(y.kind === "moved"));

function graphDifferences(a: WorkflowGraph, b: WorkflowGraph, changes: readonly Change[]): Difference[] {
  const rest = changes.filter(({ path: [first] }) => !isText(first) || !PARTS.has(first));
  const at = { kind: "settings" as const };
  const settings: Difference = {
    kind: "changed",
    at,
    text: "Workflow settings",
    ...detailsOf(rest, humanized),
  };
  return [
    ...grouped(changes, "nodes").flatMap(([id, about]) => nodeDifference(a, b, { id, about })),
    ...grouped(changes, "edges").map(([id, about]) => ({
      kind: kindOf(about),
      at: { kind: "edge" as const, id },
      text: connection(kindOf(about) === "removed" ? a : b, id),
    })),
    ...grouped(changes, "groups").map(([id, about]) => ({
      kind: kindOf(about),
      at: { kind: "group" as const, id },
      text: `Group “${[b, a].flatMap(({ groups = [] }) => groups.find((group) => group.id === id)?.name || [])[0] ?? id}”`,
    })),
    ...(rest.length > 0 ? [settings] : []),
  ];
}

const PARTS: ReadonlySet<string> = new Set(["nodes", "edges", "groups"]);

/** The changes of each item of a part, with paths relative to the item. Changes of a list's order are left out. */
function grouped(changes: readonly Change[], part: string): [id: string, changes: Change[]][] {
  const found = new Map<string, Change[]>();
  const add = (id: string, change: Change) => found.set(id, [...(found.get(id) ?? []), change]);
  for (const {
    path: [first, ...path],
    ...change
  } of changes) {
    if (first !== part) continue;
    const [step, ...rest] = path;
    if (step !== undefined) add(idOf(step), { ...change, path: rest });
    // The list of groups appears with the first group and disappears with the last.
    else for (const [side, list] of listsOf(change)) for (const id of list) add(id, { path: [], [side]: id });
  }
  return [...found];
}

const listsOf = ({ before, after }: Pick<Change, "before" | "after">) =>
  Object.entries({ before, after }).map(
    ([side, list]) =>
      [side, (Array.isArray(list) ? list : []).map((item) => String((item as { id?: string }).id))] as const,
  );

const idOf = (step: PathStep): string => (isText(step) ? step : (Object.values(step)[0] ?? ""));

function kindOf(changes: readonly Change[]): Difference["kind"] {
  const whole = changes.find(({ path }) => path.length === 0);
  if (!whole) return "changed";
  return whole.before === undefined ? "added" : whole.after === undefined ? "removed" : "changed";
}

function nodeDifference(
  a: WorkflowGraph,
  b: WorkflowGraph,
  { id, about }: { id: string; about: readonly Change[] },
): Difference[] {
  const kind = kindOf(about);
  const [old, node] = [a.nodes[id], b.nodes[id]];
  const shown = node ?? old;
  if (!shown) return [];
  const at = { kind: "node" as const, id };
  const text = `Node “${shown.name}”`;
  if (kind !== "changed") return [{ kind, at, text }];
  const changes = about.filter(({ path: [field] }) => field !== "ui");
  if (changes.length === 0) return [{ kind: "moved", at, text }];
  const labels = new Map(getNodeKind(shown.node_type).fields.map(({ key, label }) => [key, label]));
  const labelOf = ([field = "", key]: readonly PathStep[]): string =>
    field === "config" && key !== undefined
      ? (labels.get(idOf(key)) ?? humanized([key]))
      : field === "name" && old
        ? `was “${old.name}”`
        : (OWN_PARTS[idOf(field)] ?? humanized([field]));
  return [{ kind, at, text, ...detailsOf(changes, labelOf), ...textsOf(changes, labelOf) }];
}

function roleDifferences(changes: readonly Change[]): Difference[] {
  return grouped(changes, "roles").map(([id, about]) => {
    const kind = kindOf(about);
    const parts = kind === "changed" ? { ...detailsOf(about, humanized), ...textsOf(about, humanized) } : {};
    return { kind, at: { kind: "role" as const, id }, text: `Role “${id}”`, ...parts };
  });
}

/** A key is a withheld permission; one with the mark was allowed by a person. */
function permissionDifferences(before: readonly string[], after: readonly string[]): Difference[] {
  const differing = (from: readonly string[], to: readonly string[]) =>
    from.filter((key) => !to.includes(key));
  const permission = (key: string, isWithheld: boolean): Difference => {
    const id = key.replace(/^allowed:/, "");
    const kind = isWithheld === (id === key) ? "removed" : "added";
    return { kind, at: { kind: "permission", id }, text: `Permission “${id}”` };
  };
  return [
    ...differing(after, before).map((key) => permission(key, true)),
    ...differing(before, after).map((key) => permission(key, false)),
  ];
}

type Label = (path: readonly PathStep[]) => string;

/** Task, Writes, was “Ask” */
function detailsOf(changes: readonly Change[], labelOf: Label): { details?: string } {
  const labels = [...new Set(changes.map(({ path }) => labelOf(path)))].filter(Boolean);
  return labels.length > 0 ? { details: labels.join(", ") } : {};
}

/** The texts that differ, labeled by field and the path within it: "Crew › writer › backstory". */
function textsOf(changes: readonly Change[], labelOf: Label): Pick<Difference, "texts"> {
  const texts = changes.flatMap(({ path, before = "", after = "", order }) => {
    if (order || path.length === 0 || path[0] === "name" || !isText(before) || !isText(after)) return [];
    const inner = path.slice(path[0] === "config" ? 2 : 1).map((step) => idOf(step).replaceAll("_", " "));
    return { label: [labelOf(path), ...inner].join(" › "), before, after };
  });
  return texts.length > 0 ? { texts } : {};
}

/** max_iterations -> Max iterations */
function humanized([step = ""]: readonly PathStep[]): string {
  const text = idOf(step).replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const OWN_PARTS: Readonly<Record<string, string>> = {
  node_type: "Kind",
  when: "Condition",
  input_keys: "Reads",
  optional_input_keys: "Optional inputs",
  output_keys: "Writes",
};

function connection(graph: WorkflowGraph, id: string): string {
  const edge = graph.edges.find((one) => one.id === id);
  const name = (of = "") => graph.nodes[of]?.name ?? of;
  const label = edge?.edge_label ? ` (${edge.edge_label})` : "";
  return `Connection ${name(edge?.source_node_id)} → ${name(edge?.target_node_id)}${label}`;
}
