import { expect, test } from "vitest";
import { rejectionOf } from "../testing/outcome";
import { OPERATORS, type Operator, operatorType, TYPES, type Type } from "./expression-values";

/** What an operator gives for each pair of types that go together, as "left right: result". */
const known = (operator: Operator, types: readonly Type[]) =>
  types.flatMap((left) =>
    types.flatMap((right) => {
      const type = operatorType(operator, left, right);
      return type === null ? [] : [`${left} ${right}: ${type}`];
    }),
  );
const certain = TYPES.filter((type) => type !== "dyn");
const numbers = [
  "int int: int",
  "int double: double",
  "uint uint: uint",
  "uint double: double",
  "double int: double",
  "double uint: double",
  "double double: double",
];

test.each<[Operator, string[]]>([
  [
    "+",
    [
      ...numbers,
      "string string: string",
      "bytes bytes: bytes",
      "list list: list",
      "timestamp duration: timestamp",
      "duration timestamp: timestamp",
      "duration duration: duration",
    ],
  ],
  [
    "-",
    [
      ...numbers,
      "timestamp timestamp: duration",
      "timestamp duration: timestamp",
      "duration duration: duration",
    ],
  ],
  ["*", numbers],
  ["/", numbers],
  ["%", numbers],
])("the result types of an operator are known before an expression runs: %s", (operator, expected) => {
  expect(known(operator, certain)).toEqual(expected);
});

test("numbers can be ordered with each other, and some other types among themselves", () => {
  const kinds = ["int", "uint", "double"];
  const expected = certain.flatMap((left) => {
    const others = kinds.includes(left)
      ? kinds
      : ["bool", "string", "timestamp", "duration"].filter((type) => type === left);
    return others.map((right) => `${left} ${right}: bool`);
  });
  for (const operator of ["<", "<=", ">", ">="] as const) expect(known(operator, certain)).toEqual(expected);
});

test("values of one type, numbers, and any value and null can be compared for equality", () => {
  const numeric = ["int", "uint", "double"];
  const expected = certain.flatMap((left) =>
    certain
      .filter(
        (right) =>
          left === right ||
          left === "null" ||
          right === "null" ||
          (numeric.includes(left) && numeric.includes(right)),
      )
      .map((right) => `${left} ${right}: bool`),
  );
  for (const operator of ["==", "!="] as const) expect(known(operator, certain)).toEqual(expected);
});

test("the in operator accepts a list, an object or an unknown type on its right", () => {
  expect(known("in", TYPES)).toEqual(
    TYPES.flatMap((left) => ["dyn", "list", "map"].map((right) => `${left} ${right}: bool`)),
  );
});

test("an operand of unknown type is accepted wherever a matching type exists", () => {
  const tried = (operator: Operator) =>
    TYPES.flatMap((type) => {
      const [left, right] = [operatorType(operator, type, "dyn"), operatorType(operator, "dyn", type)];
      expect([operator, type, left]).toEqual([operator, type, right]);
      return left === null ? [] : [`${type}: ${left}`];
    });
  const arithmetic = ["dyn: dyn", "int: dyn", "uint: dyn", "double: dyn"];
  expect(tried("+")).toEqual([
    ...arithmetic,
    "string: string",
    "bytes: dyn",
    "list: list",
    "timestamp: dyn",
    "duration: dyn",
  ]);
  expect(tried("-")).toEqual([...arithmetic, "timestamp: dyn", "duration: dyn"]);
  for (const operator of ["*", "/", "%"] as const) expect(tried(operator)).toEqual(arithmetic);
  for (const operator of ["<", "<=", ">", ">="] as const)
    expect(tried(operator)).toEqual(
      ["dyn", "bool", "int", "uint", "double", "string", "timestamp", "duration"].map(
        (type) => `${type}: bool`,
      ),
    );
  expect(tried("==")).toEqual(TYPES.map((type) => `${type}: bool`));
  expect(OPERATORS).toHaveLength(12);
});

test("mismatched operands are rejected before a run, or during it if their types were unknown", () => {
  const samples = {
    null: "null",
    bool: "true",
    int: "1",
    uint: "1u",
    double: "2.0",
    string: "'a'",
    bytes: "b'a'",
    list: "[1]",
    map: "{'a': 1}",
    timestamp: "now",
    duration: "duration('1s')",
  } as const;
  const types = Object.keys(samples) as (keyof typeof samples)[];
  const outcomeOf = (text: string) => {
    const result = rejectionOf(`[${text}].size()`);
    return Array.isArray(result) ? `${text}: ${result[0]}` : "given";
  };
  for (const operator of OPERATORS)
    for (const left of types)
      for (const right of types) {
        const [a, b] = [samples[left], samples[right]];
        const fits = operatorType(operator, left, right) !== null;
        const refused = (text: string) => `${text}: Type mismatch: ${left} ${operator} ${right}.`;
        const [certain, late] = [`${a} ${operator} ${b}`, `dyn(${a}) ${operator} dyn(${b})`];
        expect(outcomeOf(certain)).toBe(fits ? "given" : refused(certain));
        // In a run, any two values can be compared.
        const isComparison = operator === "==" || operator === "!=";
        expect(outcomeOf(late)).toBe(fits || isComparison ? "given" : refused(late));
      }
});
