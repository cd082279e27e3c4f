import { formatList } from "@/components/display/format";
import { type InputField, toField } from "@/components/forms/schema/input-fields";
import { isObject } from "@/server/domain/base/guards";
import { type Json, type JsonObject, type JsonSchema, StateKey } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { stateProperties } from "@/server/domain/graph/keys/state-properties";
import type { StatePatch } from "@/server/domain/run/fork/lineage";
import { changesBetween } from "@/server/domain/run/past/step-change";

export const isState = (value: unknown): value is JsonObject => isObject(value);

/** What to set and to take away, so that the one state becomes the other; null where they are the same. */
export function patchOf(before: JsonObject, after: JsonObject): StatePatch | null {
  const changes = changesBetween(before, after);
  if (changes.length === 0) return null;
  return {
    set: Object.fromEntries(changes.flatMap(({ key, after: to }) => (to === undefined ? [] : [[key, to]]))),
    remove: changes.flatMap(({ key, after: to }) => (to === undefined ? [key] : [])),
  };
}

/** The error of an edited state; null if there is none. */
export function stateError(before: JsonObject, after: Json): string | null {
  if (!isState(after)) return "State must be a JSON object.";
  for (const { key } of changesBetween(before, after)) {
    const { error } = StateKey.safeParse(key);
    if (error) return `“${key}” can't be a key: ${error.issues[0]?.message ?? "choose another name"}.`;
  }
  return null;
}

/** A change of the state as text. */
export function describePatch(patch: StatePatch | null): string {
  if (!patch) return "No changes.";
  const quoted = (keys: readonly string[]) => formatList(keys.map((key) => `“${key}”`));
  const set = Object.keys(patch.set);
  return [
    ...(set.length > 0 ? [`Sets ${quoted(set)}.`] : []),
    ...(patch.remove.length > 0 ? [`Removes ${quoted(patch.remove)}.`] : []),
  ].join(" ");
}

/** The field for a state key, by the schema that the workflow declares; `otherwise`: the schema if it declares none. */
export function stateField(
  graph: WorkflowGraph | null,
  key: string,
  otherwise: JsonSchema = {},
  name = key,
): InputField {
  const declared = graph ? stateProperties(graph) : {};
  const around = graph?.global_state_schema;
  const schema = (Object.hasOwn(declared, key) ? declared[key] : undefined) ?? otherwise;
  return toField({ key: name, schema, required: true, ...(around ? { around } : {}) });
}
