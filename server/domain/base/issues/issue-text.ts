import type { z } from "zod";

/** What people call the types of values. */
const TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};
const BOUNDS: Readonly<Record<string, string>> = {
  ">=": "at least",
  ">": "more than",
  "<=": "at most",
  "<": "less than",
  exactly: "exactly",
};

/** Zod's standard messages and what people read instead. A schema's own messages are for people already. */
const TEXTS: readonly (readonly [RegExp, (...parts: string[]) => string])[] = [
  [/^Too small: expected \w+ to have >=1 \w+$/, () => "Must not be empty"],
  [
    /^Too (?:small|big): expected \w+ to (be|have) (>=|>|<=|<|exactly) ?(\S+)(?: (\w+))?$/,
    (verb, bound, size, unit) =>
      ["Must", verb, BOUNDS[bound ?? ""], size, size === "1" ? unit?.replace(/s$/, "") : unit]
        .filter(Boolean)
        .join(" "),
  ],
  [/^Invalid input: expected nonoptional/, () => "Must not be missing"],
  [/^Invalid input: expected \w+, received undefined$/, () => "Must not be missing"],
  [/^Invalid input: expected int, received number$/, () => "Must be a whole number"],
  [
    /^Invalid input: expected (\w+), received (\w+)$/,
    (expected = "", received = "") =>
      `Must be ${TYPES[expected] ?? expected}, not ${TYPES[received] ?? received}`,
  ],
  [/^Invalid input: expected (.+)$/, (value) => `Must be ${value}`],
  [
    /^Invalid (?:option: expected one of|discriminator value\. Expected) (.+)$/,
    (values = "") => `Must be one of ${values.replaceAll("'", '"').replace(/ ?\| ?/g, ", ")}`,
  ],
  [/^Unrecognized key(s?): (.+)$/, (plural, names) => `Unknown field${plural} ${names}`],
  [/^Invalid (?:string|number): must (.+)$/, (what) => `Must ${what}`],
  [/^Invalid input$/, () => "Invalid value"],
];

/** Why a schema doesn't take a value, for people. Models read zod's own messages, since recordings contain those. */
export function issueText({ message }: { message: string }): string {
  for (const [pattern, write] of TEXTS) {
    const found = pattern.exec(message);
    if (found) return write(...found.slice(1));
  }
  return message;
}

/** Each of them with its place, without the offending values. */
export const issueTexts = ({ issues }: z.ZodError, most = 8): string[] =>
  issues
    .slice(0, most)
    .map((issue) =>
      issue.path.length > 0 ? `${issue.path.join(".")}: ${issueText(issue)}` : issueText(issue),
    );
