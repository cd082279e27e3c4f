import { defined } from "@/server/domain/base/defined";
import { listOf } from "@/server/domain/base/guards";
import { propertiesOf } from "@/server/domain/base/json-schema";
import type { JsonSchema } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { stateProperties } from "@/server/domain/graph/keys/state-properties";
import { inputFields } from "@/server/domain/graph/run-input";
import { settingsOf } from "@/server/domain/nodes";
import { readRows } from "./fields/cel-rows";
import { type FormScope, writersOf } from "./form-scope";
import { describeType } from "./schema/schema-labels";

/** What a workflow reveals about the values of a key. */
export interface KeyFacts {
  /** Such as "Whole number"; undefined if unknown. */
  kind?: string;
  /** Known values: from its schema, or from conditions that compare it. */
  values: string[];
}

/** The default names of new routes, which reveal no values. */
const PLACEHOLDER = /^way \d+$/;

/**
 * The facts about a key: its schemas, the values that conditions compare it with, and the routes of routers by value
 * except `asking`.
 */
export function keyFacts(graph: WorkflowGraph, key: string, asking?: string): KeyFacts {
  if (key === "") return { values: [] };
  const shapes = shapesOf(graph, key);
  const listed = shapes.flatMap(valuesOf);
  const compared = conditionsOf(graph).flatMap((text) =>
    (readRows(text)?.rows ?? []).flatMap((row) =>
      row.key === key && (row.operator === "is" || row.operator === "is_not") && row.value !== ""
        ? row.value
        : [],
    ),
  );
  const named = Object.values(graph.nodes).flatMap((node) => {
    const { kind, value, ways } = settingsOf(node);
    return node.id !== asking && kind === "value" && value === `state.${key}`
      ? (ways ?? []).filter((way) => !PLACEHOLDER.test(way))
      : [];
  });
  // "Anything" adds nothing.
  const kind = shapes.map(describeType).find((word) => word !== "Anything");
  return defined({ kind, values: [...new Set([...listed, ...compared, ...named])] });
}

/** The keys that can exist here, with their types and writers. */
export function keySuggestions(scope: FormScope) {
  return scope.keys.map((available) => {
    const { kind } = keyFacts(scope.graph, available.key);
    return {
      value: available.key,
      detail: [kind, writersOf(scope, available)].filter(Boolean).join(", "),
    };
  });
}

function shapesOf(graph: WorkflowGraph, key: string): JsonSchema[] {
  const written = Object.values(graph.nodes).flatMap((node) => {
    const properties = propertiesOf(settingsOf(node).output_schema);
    const shape = Object.hasOwn(properties, key) ? properties[key] : undefined;
    return shape ? [shape] : [];
  });
  const asked = inputFields(graph).flatMap((field) => (field.key === key ? [field.schema] : []));
  const kept = Object.entries(stateProperties(graph)).flatMap(([name, shape]) =>
    name === key ? [shape] : [],
  );
  return [...written, ...asked, ...kept];
}

function valuesOf(schema: JsonSchema): string[] {
  if (schema.type === "boolean") return ["true", "false"];
  const one = schema.const === undefined ? [] : [schema.const];
  const all: unknown[] = [...one, ...listOf(schema.enum)];
  return all.map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
}

function conditionsOf(graph: WorkflowGraph): string[] {
  const own = Object.values(graph.nodes).flatMap((node) => {
    const { conditions } = settingsOf(node);
    return [...(conditions ?? []).map(({ when }) => when), ...(node.when ? [node.when] : [])];
  });
  return [...own, ...graph.edges.flatMap(({ condition }) => condition ?? [])];
}
