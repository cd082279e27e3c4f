import { expect, test } from "vitest";
import { z } from "zod";
import { issueText } from "./issue-text";

/** What a person reads about a value that a schema doesn't take. */
const textOf = (schema: z.ZodType, value: unknown): string =>
  issueText(schema.safeParse(value).error!.issues[0]!);

const rule = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("echo") }),
  z.object({ kind: z.literal("lookup") }),
]);

test.each([
  ["a number that is too small", z.number().min(1), 0, "Must be at least 1"],
  ["a number that must be positive", z.number().positive(), 0, "Must be more than 0"],
  ["a number that is too large", z.number().max(100), 101, "Must be at most 100"],
  ["a number that must stay below", z.number().lt(1), 1, "Must be less than 1"],
  ["an empty text", z.string().min(1), "", "Must not be empty"],
  ["a short text", z.string().min(8), "short", "Must have at least 8 characters"],
  ["a long text", z.string().max(3), "long", "Must have at most 3 characters"],
  ["an empty list", z.array(z.string()).min(1), [], "Must not be empty"],
  ["a long list", z.array(z.string()).max(1), ["a", "b"], "Must have at most 1 item"],
  ["a list of another length", z.array(z.string()).length(2), [], "Must have exactly 2 items"],
  ["a value that is missing", z.string(), undefined, "Must not be missing"],
  ["a text where a number belongs", z.number(), "1", "Must be a number, not a text"],
  ["a fraction where a count belongs", z.int(), 1.5, "Must be a whole number"],
  ["a text where a list belongs", z.array(z.string()), "a", "Must be a list, not a text"],
  ["a list where an object belongs", z.record(z.string(), z.string()), [], "Must be an object, not a list"],
  ["null where a switch belongs", z.boolean(), null, "Must be true or false, not null"],
  ["a choice that there is not", z.enum(["fail", "skip"]), "stop", 'Must be one of "fail", "skip"'],
  ["the only value that fits", z.literal(1), 2, "Must be 1"],
  ["a kind that there is not", rule, { kind: "guess" }, 'Must be one of "echo", "lookup"'],
  ["a field that there is not", z.strictObject({}), { a: 1 }, 'Unknown field "a"'],
  ["fields that there are not", z.strictObject({}), { a: 1, b: 2 }, 'Unknown fields "a", "b"'],
  ["a text of another form", z.string().startsWith("run_"), "x", 'Must start with "run_"'],
  ["a value of none of several forms", z.union([z.string(), z.number()]), [], "Invalid value"],
  ["a text that a schema has for it", z.string().min(1, "Enter a name"), "", "Enter a name"],
])("%s", (_what, schema, value, text) => {
  expect(textOf(schema, value)).toBe(text);
});
