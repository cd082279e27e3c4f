import type { JsonSchema } from "@/server/domain/base/values";
import { faultTexts, readSchema } from "../schema";

/** A schema, the values that fit it, and those that do not with what is said of each. */
export type Ruling = [
  schema: JsonSchema | boolean,
  fits: unknown[],
  refused: [value: unknown, ...faults: string[]][],
];

/** What a schema says of each value of such a row, in the same form; whether one fits is asked in both ways. */
export function ruled([schema, fits, refused]: Ruling): Ruling {
  const read = readSchema(schema);
  const isRefused = (value: unknown) => {
    const faults = faultTexts(read.faults(value));
    if (read.fits(value) !== (faults.length === 0))
      throw new Error("Its faults and whether it fits disagree.");
    return faults.length > 0;
  };
  const values = [...fits, ...refused.map(([value]) => value)];
  return [
    schema,
    values.filter((value) => !isRefused(value)),
    values.filter(isRefused).map((value) => [value, ...faultTexts(read.faults(value))]),
  ];
}

/** What in a schema is not checked, each with its place. */
export const unchecked = (schema: JsonSchema): string[] =>
  readSchema(schema).unchecked.map(({ path, message }) => `${path.join(".")}: ${message}`);
