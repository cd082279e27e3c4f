import type { RunError } from "@/server/domain/agent/outcome";
import { type Change, changeOf, WORTH_REFERRING } from "@/server/domain/base/changes";
import { must } from "@/server/domain/base/must";
import { sizeOf, sizeText } from "@/server/domain/base/sizes";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { Analysis } from "@/server/domain/graph/analysis";
import { reduceValue } from "@/server/domain/graph/keys/reducers";
import { reducerOf } from "@/server/domain/graph/keys/state-properties";
import { findInvalid } from "@/server/domain/graph/state-check";
import { REPEATED } from "@/server/domain/nodes/end";
import type { RunState } from "..";
import type { NewEvent } from "../events";
import { nameOf, quoted } from "./names";
import { isLater, knows, placesBefore } from "./order";

/**
 * Writes values into the state by their reducers. It is a conflict if the last writer of a key is not among the causes
 * of this one: the writer later in topological order wins, whatever the timing.
 */
export function patch(
  a: Analysis,
  s: RunState,
  activationId: string,
  values: JsonObject,
):
  | { events: NewEvent[]; keys: string[]; set: JsonObject; reducers: Record<string, string> }
  | { error: RunError } {
  const set: JsonObject = {};
  const reducers: Record<string, string> = {};
  const merged: string[] = [];
  const events: NewEvent[] = [];
  const { node_id } = must(s.activations, activationId);
  const at = { node_id, activation_id: activationId };
  for (const key of Object.keys(values)) {
    const reducer = reducerOf(s.graph, key);
    const before = s.writer[key];
    const value: Json = must(values, key);
    if (reducer !== "last") {
      reducers[key] = reducer;
      merged.push(key);
    } else if (before !== undefined && before !== "input" && !knows(s, activationId, before)) {
      const winner = isLater(a, s, activationId, before) ? activationId : before;
      const strict = s.run.config.strict_state;
      events.push({
        type: "state_conflict",
        ...at,
        payload: {
          key,
          writers: [before, activationId],
          winner,
          policy: strict ? "strict" : "topological_order",
        },
      });
      if (strict)
        return stateInvalid(
          `Two branches write "${key}" at the same time (${before} and ${activationId}). Set a merge rule for the key, or run one branch first.`,
        );
      if (winner !== activationId) continue;
    }
    const errors = findInvalid(s.graph, key, value, reducer);
    if (errors.length > 0) {
      if (s.run.config.strict_state)
        return stateInvalid(`"${key}" violates its schema: ${errors.join("; ")}`);
      events.push({ type: "state_invalid", ...at, payload: { key, errors, writer: activationId } });
    }
    set[key] = value;
  }
  const keys = Object.keys(set);
  const large = findTooLarge(s, node_id, set, reducers);
  if (large) return { error: large };
  if (keys.length > 0)
    events.push({
      type: "state_patched",
      ...at,
      payload: {
        ...asChanges(s, set, reducers),
        ...mergedBefore(a, s, activationId, merged),
        writer: activationId,
        ...(merged.length > 0 ? { reducers } : null),
      },
    });
  return { events, keys, set, reducers };
}

const stateInvalid = (message: string): { error: RunError } => ({
  error: { code: "STATE_INVALID", message, retryable: false, user_action: "edit_graph" },
});

function mergedBefore(
  a: Analysis,
  s: RunState,
  activationId: string,
  keys: readonly string[],
): { before?: Record<string, number> } {
  const places = keys
    .map((key) => [key, placesBefore(a, s, activationId, key)] as const)
    .filter(([, count]) => count > 0);
  return places.length > 0 ? { before: Object.fromEntries(places) } : {};
}

/** What is written, as changes where that is shorter. Merged values are changes already. */
function asChanges(
  s: RunState,
  written: JsonObject,
  reducers: Readonly<Record<string, string>>,
): { set: JsonObject; changed?: Record<string, Change> } {
  const set: JsonObject = {};
  let changed: Record<string, Change> | undefined;
  for (const key of Object.keys(written)) {
    const change = key in reducers ? null : changeOf(s.state[key], must(written, key));
    if (change) (changed ??= {})[key] = change;
    else set[key] = must(written, key);
  }
  return changed ? { set, changed } : { set };
}

/**
 * Values of a node's input or output, with long values that the state holds under the same key replaced by references.
 * `written`: the keys set by then; values merged by a reducer differ from what was written.
 */
export function referring(
  state: RunState["state"],
  values: JsonObject,
  written?: { set: JsonObject; reducers: Readonly<Record<string, string>> },
): { input: JsonObject; from_state?: string[] } {
  const from_state = Object.keys(values).filter((key) => {
    const value = values[key];
    if (sizeOf(value) < WORTH_REFERRING || (written && key in written.reducers)) return false;
    return value === (written && Object.hasOwn(written.set, key) ? written.set[key] : state[key]);
  });
  if (from_state.length === 0) return { input: values };
  const input = Object.fromEntries(Object.entries(values).filter(([key]) => !from_state.includes(key)));
  return { input, from_state };
}

/** The error for a value of this many characters; null if it fits. */
export function tooLarge(what: string, size: number, s: RunState): RunError | null {
  const most = s.run.config.max_state_chars;
  if (size <= most) return null;
  return {
    code: "TOO_LARGE",
    message: `${what} is too large: ${sizeText(size)}; the maximum is ${sizeText(most)}. Store less data, write it to a file, or raise the limit in the workflow's settings.`,
    retryable: false,
    user_action: "edit_graph",
  };
}

/** The error if the state is too large once these values are written, or null. */
function findTooLarge(
  s: RunState,
  node_id: string,
  set: JsonObject,
  reducers: Readonly<Record<string, string>>,
): RunError | null {
  // A merged value is seldom larger than both; it is only computed where that might not fit.
  let most = sizeOf(set);
  for (const key in s.state) most += key.length + 4 + sizeOf(s.state[key]);
  if (most <= s.run.config.max_state_chars) return null;
  most = sizeOfState({ ...s.state, ...set });
  for (const key in reducers) most += sizeOf(s.state[key]);
  if (most <= s.run.config.max_state_chars) return null;
  const after = { ...s.state, ...set };
  for (const key in reducers) after[key] = reduceValue(must(reducers, key), s.state[key], must(set, key));
  const what = `The state, with ${quoted(Object.keys(set))} from ${nameOf(must(s.graph.nodes, node_id))},`;
  return tooLarge(what, sizeOfState(after), s);
}

function sizeOfState(state: Readonly<Record<string, Json>>): number {
  let size = 0;
  for (const key in state) {
    const value = state[key];
    // An end writes its output under a second name as well.
    const isRepeated = key.startsWith(REPEATED) && state[key.slice(REPEATED.length)] === value;
    size += key.length + 4 + (isRepeated ? 0 : sizeOf(value));
  }
  return size;
}
