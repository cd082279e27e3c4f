import { expect, test } from "vitest";
import { MOST_TESTS, ScenarioTest } from "./scenario-test";
import { readTests, writtenTests } from "./test-file";

const info = (message: string) => ({ level: "info", at: "tests", message });
const dropped = (at: string, message: string) => ({ level: "dropped", at, message });
const made = (more: object) => ScenarioTest.parse(more);

test.each<[string, unknown, object]>([
  ["a missing list", undefined, { tests: [], findings: [] }],
  ["an empty list", [], { tests: [], findings: [] }],
  [
    "a value that is not a list",
    { name: "It" },
    { tests: [], findings: [dropped("tests", "Tests must be a list; they were left out.")] },
  ],
  [
    "a single test without an id",
    [{ name: "It" }],
    { tests: [made({ id: "test_1", name: "It" })], findings: [info("Includes 1 test.")] },
  ],
  [
    "several tests with and without ids",
    [{ id: "a", name: "A" }, { name: "B" }],
    {
      tests: [made({ id: "a", name: "A" }), made({ id: "test_2", name: "B" })],
      findings: [info("Includes 2 tests.")],
    },
  ],
  [
    "a duplicate id",
    [
      { id: "a", name: "A" },
      { id: "a", name: "B" },
    ],
    {
      tests: [made({ id: "a", name: "A" })],
      findings: [dropped("tests.1", "A second test with the id a was left out."), info("Includes 1 test.")],
    },
  ],
])("reads tests from a file: %s", (_what, value, read) => {
  expect(readTests(value)).toEqual(read);
});

test("an invalid test is dropped with the first three reasons and their places", () => {
  const { tests, findings } = readTests(["odd", { name: "", people: 1, expect: 1, input: 1 }]);
  expect(tests).toEqual([]);
  expect(findings.map(({ level, at }) => [level, at])).toEqual([
    ["dropped", "tests.0"],
    ["dropped", "tests.1"],
  ]);
  const [whole, parts] = findings.map(({ message }) => message.replace("This test was left out: ", ""));
  expect(whole?.startsWith("Must be")).toBe(true);
  expect(parts?.split("; ").map((part) => part.split(":")[0])).toEqual(["name", "input", "people"]);
});

test("a repeated test can't require more passes than it has runs", () => {
  const repeated = (times: number, at_least: number) =>
    readTests([{ name: "It", repeats: { times, at_least } }]);
  expect(repeated(2, 2).tests.length).toBe(1);
  expect(repeated(2, 3).findings).toEqual([
    dropped("tests.0", "This test was left out: repeats: at_least can't exceed times."),
  ]);
});

test("tests over the limit of a workflow are dropped", () => {
  const { tests, findings } = readTests(Array.from({ length: MOST_TESTS + 1 }, () => ({ name: "It" })));
  expect(tests.length).toBe(500);
  expect(findings).toEqual([
    dropped("tests.500", "A workflow can have at most 500 tests."),
    info("Includes 500 tests."),
  ]);
});

test("a test file omits default values and reads back unchanged", () => {
  const tests = [
    made({ id: "a", name: "A" }),
    made({
      id: "b",
      name: "B",
      input: { x: 1 },
      people: [{ answer: "approve" }],
      expect: [{ kind: "status", is: "COMPLETED" }],
      simulated: true,
    }),
  ];
  const written = writtenTests(tests);
  expect(written).toEqual([
    { id: "a", name: "A" },
    {
      id: "b",
      name: "B",
      input: { x: 1 },
      people: [{ answer: "approve" }],
      expect: [{ kind: "status", is: "COMPLETED" }],
      simulated: true,
    },
  ]);
  expect(readTests(written).tests).toEqual(tests);
});
