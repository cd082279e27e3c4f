/**
 * For what is always there by construction, where the compiler cannot see it: an id that was taken out of the same map,
 * an index within the bounds, a field that another field implies. Unlike `!`, a mistake is found where it was made. What
 * comes from outside is never asked for so: it is checked, and refused in words.
 */

/** The value of a key that is in the map. Throws where it is not: a fault of the program. */
export function must<K, V extends NonNullable<unknown> | null>(
  map: ReadonlyMap<K, V | undefined>,
  key: K,
): V {
  const value = map.get(key);
  if (value === undefined) throw absent(`an entry "${String(key)}"`);
  return value;
}

/**
 * A value that is there, null being one: JSON has it. Throws where it is undefined: a fault of the program. `what`: what
 * it is in the code, for whoever looks for the fault. A constant, so that nothing is made where all is well: this stands
 * in loops.
 */
export function present<T extends NonNullable<unknown> | null>(value: T | undefined, what: string): T {
  if (value === undefined) throw absent(what);
  return value;
}

const absent = (what: string) => new Error(`A fault in the program: ${what} is missing where it must be.`);
