import type { JsonSchema } from "@/server/domain/base/values";
import { errorTexts, readSchema } from "../schema";

/** A schema, the values that fit it, and those that do not with what is said of each. */
export type Ruling = [
  schema: JsonSchema | boolean,
  fits: unknown[],
  rejected: [value: unknown, ...errors: string[]][],
];

/** What a schema says of each value of such a row, in the same form; whether one fits is asked in both ways. */
export function ruled([schema, fits, rejected]: Ruling): Ruling {
  const read = readSchema(schema);
  const isRejected = (value: unknown) => {
    const errors = errorTexts(read.errors(value));
    if (read.fits(value) !== (errors.length === 0))
      throw new Error("Its errors and whether it fits disagree.");
    return errors.length > 0;
  };
  const values = [...fits, ...rejected.map(([value]) => value)];
  return [
    schema,
    values.filter((value) => !isRejected(value)),
    values.filter(isRejected).map((value) => [value, ...errorTexts(read.errors(value))]),
  ];
}

/** What in a schema is not checked, each with its place. */
export const unchecked = (schema: JsonSchema): string[] =>
  readSchema(schema).unchecked.map(({ path, message }) => `${path.join(".")}: ${message}`);
