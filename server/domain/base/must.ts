/**
 * Accessors for what is always there by construction where the compiler cannot see it: an id taken from the same map, an
 * index within bounds, a field that another field implies. Unlike `!`, they throw where the mistake was made. Input from
 * outside is validated instead.
 */

/** The entry of a map, list or object. Throws if it is undefined, which is a programming error. */
export function must<K, V>(map: ReadonlyMap<K, V>, key: K): Exclude<V, undefined>;
export function must<T extends object, K extends keyof T>(container: T, key: K): Exclude<T[K], undefined>;
export function must(
  container: ReadonlyMap<unknown, unknown> | Record<PropertyKey, unknown>,
  key: unknown,
): unknown {
  const value: unknown =
    container instanceof Map
      ? container.get(key)
      : (container as Record<PropertyKey, unknown>)[key as PropertyKey];
  if (value === undefined) throw absent(`"${String(key)}"`);
  return value;
}

/** The last item of a list. Throws if the list is empty, which is a programming error. */
export function lastOf<T>(list: readonly T[]): Exclude<T, undefined> {
  return must(list, list.length - 1);
}

/**
 * A value that is there (null counts: JSON has it). Throws if it is undefined, which is a programming error. `what`: names
 * it for whoever looks for the mistake; a constant, because this is called in loops.
 */
export function present<T extends NonNullable<unknown> | null>(value: T | undefined, what: string): T {
  if (value === undefined) throw absent(what);
  return value;
}

const absent = (what: string) => new Error(`Programming error: ${what} is missing.`);
