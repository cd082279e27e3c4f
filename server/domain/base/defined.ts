/** An object type whose keys that may be undefined are optional instead. */
export type Defined<T> = {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
} & {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
};

/** The fields of an object that are not undefined: with `exactOptionalPropertyTypes`, an absent field is left out. */
export function defined<T extends object>(fields: T): Defined<T> {
  const kept: Record<string, unknown> = {};
  for (const key in fields) if (fields[key] !== undefined) kept[key] = fields[key];
  return kept as Defined<T>;
}
