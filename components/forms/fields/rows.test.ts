import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkExpression, evaluateCondition } from "@/server/domain/text/expression/expression";
import {
  type ConditionRow,
  type ConditionRows,
  type Operator,
  operators,
  readRows,
  writeRows,
} from "./cel-rows";

const row: fc.Arbitrary<ConditionRow> = fc.record({
  key: fc.constantFrom("status", "score", "a_b", "list"),
  operator: fc.constantFrom(...(Object.keys(operators) as Operator[])),
  value: fc.oneof(
    fc.string(),
    fc.constantFrom("3", "-2.5", "true", "null", '"3"', "it's", 'say "hi"', "a && b"),
  ),
});
const rows: fc.Arbitrary<ConditionRows> = fc.record({
  join: fc.constantFrom("and" as const, "or" as const),
  rows: fc.array(row, { minLength: 1, maxLength: 4 }),
});

describe("conditions as rows", () => {
  test("conditions are valid CEL and are read back unchanged", () => {
    fc.assert(
      fc.property(rows, (written) => {
        const expression = writeRows(written);
        expect(expression).not.toBeNull();
        if (expression === null) return;
        const errors = checkExpression(expression, { result: "bool" });
        expect(errors, expression).toEqual([]);
        const read = readRows(expression);
        expect(read).not.toBeNull();
        if (read) expect(writeRows(read)).toBe(expression);
      }),
      { numRuns: 500 },
    );
  });

  test("conditions evaluate to what their rows express", () => {
    const holds = (row: ConditionRow, state: Record<string, string | number | boolean>) =>
      evaluateCondition(writeRows({ join: "and", rows: [row] }) ?? "", { state }).value;
    expect(holds({ key: "s", operator: "is", value: "approved" }, { s: "approved" })).toBe(true);
    expect(holds({ key: "n", operator: "more", value: "3" }, { n: 4 })).toBe(true);
    expect(holds({ key: "s", operator: "is", value: '"3"' }, { s: "3" })).toBe(true);
    expect(holds({ key: "s", operator: "contains", value: "yes" }, { s: "oh yes" })).toBe(true);
    expect(holds({ key: "s", operator: "set", value: "" }, {})).toBe(false);
    expect(holds({ key: "s", operator: "not_set", value: "" }, {})).toBe(true);
  });

  test.each([
    ['state.a == "x"', { join: "and", rows: [{ key: "a", operator: "is", value: "x" }] }],
    ["state.a == 'x'", { join: "and", rows: [{ key: "a", operator: "is", value: "x" }] }],
    [
      "state.n >= 3 || state.ok == true",
      {
        join: "or",
        rows: [
          { key: "n", operator: "least", value: "3" },
          { key: "ok", operator: "is", value: "true" },
        ],
      },
    ],
  ] as const)("expression %s is shown as rows", (expression, expected) => {
    expect(readRows(expression)).toEqual(expected);
  });

  test.each([
    "size(state.list) > 3",
    "state.a == state.b",
    'state.a == "x" && state.b == 1 || state.c == 2',
    "",
    "(state.a == 1)",
  ])("expression %s stays text", (expression) => expect(readRows(expression)).toBeNull());
});
