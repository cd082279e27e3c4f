import { keysOf } from "./guards";

/** A copy without the keys whose value is undefined, which in a patch means: take it away. */
export function withoutUndefined<T extends object>(value: T): T {
  const copy = { ...value };
  for (const key of keysOf(copy)) if (copy[key] === undefined) delete copy[key];
  return copy;
}

/** A copy of a record without one of its keys. */
export function withoutKey<T>(record: Readonly<Record<string, T>>, key: string): Record<string, T> {
  const { [key]: _gone, ...others } = record;
  return others;
}
