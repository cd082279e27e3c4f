import { changed, isNothing, type Version } from "@/server/domain/base/changes";
import { must } from "@/server/domain/base/must";
import type { Json } from "@/server/domain/base/values";
import { reduceAll, reduceValue } from "@/server/domain/graph/keys/reducers";
import type { StateEvents } from "../events";
import type { StatePatch } from "../fork/lineage";
import type { RunState } from "../state";
import type { Handlers } from "./handlers";
import { warn } from "./patch";

export const stateValues: Handlers<keyof StateEvents> = {
  state_initialized(s, { payload }) {
    for (const [key, value] of Object.entries(payload.state))
      writeValue(s, key, "input", { before: null, make: () => value });
  },
  state_patched(s, { payload }) {
    const { set, writer, reducers, before: places, changed: changes } = payload;
    for (const key in set) {
      const reducer = reducers?.[key];
      const value = must(set, key);
      if (reducer) merge(s, key, writer, { reducer, value, before: places?.[key] ?? 0 });
      else writeValue(s, key, writer, { before: null, make: () => value });
    }
    for (const key in changes) {
      const change = must(changes, key);
      s.writer[key] = writer;
      if (isNothing(change)) continue;
      writeValue(s, key, writer, {
        before: s.versions[key] ?? null,
        make: (before) => changed(before, change),
      });
    }
  },
  state_conflict(s, { payload: { key, winner } }) {
    warn(s, `Two branches wrote "${key}"; the value of ${winner} was kept.`);
  },
  state_invalid(s, { payload: { key, errors } }) {
    warn(s, `"${key}" violates its schema: ${errors.join("; ")}`);
  },
};

/** Merges a value into a key at its position: parallel branches write in a fixed order, whichever finishes first. */
function merge(
  s: RunState,
  key: string,
  writer: string,
  { reducer, value, before }: { reducer: string; value: Json; before: number },
): void {
  const { base, parts } = s.merged[key] ?? { base: s.state[key], parts: [] };
  const after = parts.toSpliced(parts.length - before, 0, { writer, value });
  s.merged[key] = { base, parts: after };
  const version: Version =
    before === 0
      ? { before: s.versions[key] ?? null, make: (present) => reduceValue(reducer, present, value) }
      : {
          before: null,
          make: () =>
            reduceAll(
              reducer,
              base,
              after.map((part) => part.value),
            ),
        };
  writeValue(s, key, writer, version);
}

/** Gives a key of the state its next version. */
export function writeValue(s: RunState, key: string, writer: string, version: Version): void {
  s.state[key] = version.make(s.state[key]);
  s.versions[key] = version;
  s.writer[key] = writer;
}

/** A person's word on the state: these values, and those keys no more. */
export function editState(s: RunState, { set, remove }: StatePatch, writer: string): void {
  for (const [key, value] of Object.entries(set)) {
    delete s.merged[key];
    writeValue(s, key, writer, { before: null, make: () => value });
  }
  for (const key of remove)
    for (const record of [s.state, s.versions, s.merged, s.writer]) delete record[key];
}
