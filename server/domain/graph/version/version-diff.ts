import type { RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { isList, isObject, isText, listOf, recordOf } from "@/server/domain/base/guards";
import { asStored, isSameJson } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";
import type { WorkflowGraph } from "../graph";

/** The content of a version. */
export interface VersionContent {
  graph: WorkflowGraph;
  /** The roles that the graph uses. */
  roles: readonly RoleDefinition[];
  /** Withheld permissions; see capabilities.ts. */
  withheld: readonly string[];
}

/** A field of an object, or an item of a list by the field that identifies it: ["edges", { id: "edge_1" }, "condition"]. */
export type PathStep = string | Readonly<Record<string, string>>;

/** One difference. Without `before`, it was added; without `after`, removed. */
export interface Change {
  path: PathStep[];
  before?: Json;
  after?: Json;
  /** Set instead of both: the new order of a list whose items are identified by the field `by`. */
  order?: { by: string; ids: string[] };
}

/** Fields that identify the items of a list if every item has one: edges, groups, agents and tasks of crews, roles, routes. */
const IDENTIFIERS = ["id", "agent_id", "task_id", "name", "label"] as const;

/** How one graph differs from another, by ids and fields; the order of fields doesn't count. */
export const diffGraphs = (a: WorkflowGraph, b: WorkflowGraph): Change[] => diff(a, b, []);

export const diffVersions = (a: VersionContent, b: VersionContent): Change[] => diff(a, b, []);

/** Applies a diff to the first of two compared values; returns the second. */
export const applyDiff = <T>(changes: readonly Change[], value: T): T =>
  // A diff of two values of a type yields a value of that type.
  changes.reduce((before: unknown, change) => changed(before, change.path, change), asStored(value)) as T;

function diff(a: unknown, b: unknown, path: PathStep[]): Change[] {
  if (isSameJson(a, b)) return [];
  if (isObject(a) && isObject(b)) {
    const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
    return [...keys].flatMap((key) => diff(ownOf(a, key), ownOf(b, key), [...path, key]));
  }
  const by = isList(a) && isList(b) ? identifierOf(a, b) : undefined;
  if (by !== undefined) return diffItems(byId(a, by), byId(b, by), { path, by });
  // Parts of JSON values are JSON.
  return [{ path, ...(defined({ before: a, after: b }) as { before?: Json; after?: Json }) }];
}

type Items = ReadonlyMap<string, unknown>;

function diffItems(a: Items, b: Items, { path, by }: { path: PathStep[]; by: string }): Change[] {
  const ids = [...new Set([...a.keys(), ...b.keys()])];
  const changes = ids.flatMap((id) => diff(a.get(id), b.get(id), [...path, { [by]: id }]));
  const wanted = [...b.keys()];
  const isInOrder = isSameJson(
    ids.filter((id) => b.has(id)),
    wanted,
  );
  return isInOrder ? changes : [...changes, { path, order: { by, ids: wanted } }];
}

function changed(value: unknown, [step, ...rest]: readonly PathStep[], change: Change): unknown {
  if (step === undefined) {
    if (!change.order) return change.after;
    const items = byId(value, change.order.by);
    return change.order.ids.map((id) => items.get(id));
  }
  const isField = isText(step);
  const [[by, id] = ["", ""]] = isField ? [["", step] as const] : Object.entries(step);
  const parts = isField ? new Map(Object.entries(recordOf(value))) : byId(value, by);
  const part = changed(parts.get(id), rest, change);
  if (part === undefined) parts.delete(id);
  else parts.set(id, part);
  return isField ? Object.fromEntries(parts) : [...parts.values()];
}

const ownOf = (value: Readonly<Record<string, unknown>>, key: string): unknown =>
  Object.hasOwn(value, key) ? value[key] : undefined;

const byId = (list: unknown, by: string): Map<string, unknown> =>
  new Map(listOf(list).map((item) => [String(recordOf(item)[by]), item]));

function identifierOf(a: readonly unknown[], b: readonly unknown[]): string | undefined {
  const isUnique = (list: readonly unknown[], by: string) =>
    list.every((item) => isObject(item) && isText(ownOf(item, by))) && byId(list, by).size === list.length;
  return IDENTIFIERS.find((by) => isUnique(a, by) && isUnique(b, by));
}
