import { expect, test } from "vitest";
import { MOST_TESTS, ScenarioTest } from "./scenario-test";
import { readTests, writtenTests } from "./test-file";

const info = (message: string) => ({ level: "info", at: "tests", message });
const dropped = (at: string, message: string) => ({ level: "dropped", at, message });
const made = (more: object) => ScenarioTest.parse(more);

test.each<[string, unknown, object]>([
  ["none is nothing to be told", undefined, { tests: [], findings: [] }],
  ["none of a list is nothing to be told", [], { tests: [], findings: [] }],
  [
    "what is no list is left out",
    { name: "It" },
    { tests: [], findings: [dropped("tests", "Tests must be a list; they were left out.")] },
  ],
  [
    "one is read, and gets an id by its place",
    [{ name: "It" }],
    { tests: [made({ id: "test_1", name: "It" })], findings: [info("Includes 1 test.")] },
  ],
  [
    "several are read, under their own ids",
    [{ id: "a", name: "A" }, { name: "B" }],
    {
      tests: [made({ id: "a", name: "A" }), made({ id: "test_2", name: "B" })],
      findings: [info("Includes 2 tests.")],
    },
  ],
  [
    "a second one with the same id is left out",
    [
      { id: "a", name: "A" },
      { id: "a", name: "B" },
    ],
    {
      tests: [made({ id: "a", name: "A" })],
      findings: [dropped("tests.1", "A second test with the id a was left out."), info("Includes 1 test.")],
    },
  ],
])("of the tests in a file, %s", (_what, value, read) => {
  expect(readTests(value)).toEqual(read);
});

test("a test that cannot be read is left out, with the first three reasons and their places", () => {
  const { tests, findings } = readTests(["odd", { name: "", people: 1, expect: 1, input: 1 }]);
  expect(tests).toEqual([]);
  expect(findings.map(({ level, at }) => [level, at])).toEqual([
    ["dropped", "tests.0"],
    ["dropped", "tests.1"],
  ]);
  const [whole, parts] = findings.map(({ message }) => message.replace("This test was left out: ", ""));
  expect(whole?.startsWith("Invalid input")).toBe(true);
  expect(parts?.split("; ").map((part) => part.split(":")[0])).toEqual(["name", "input", "people"]);
});

test("a test that is repeated cannot have to pass more often than it runs", () => {
  const repeated = (times: number, at_least: number) =>
    readTests([{ name: "It", repeats: { times, at_least } }]);
  expect(repeated(2, 2).tests.length).toBe(1);
  expect(repeated(2, 3).findings).toEqual([
    dropped("tests.0", "This test was left out: repeats: at_least can't exceed times."),
  ]);
});

test("a workflow has so many tests at most", () => {
  const { tests, findings } = readTests(Array.from({ length: MOST_TESTS + 1 }, () => ({ name: "It" })));
  expect(tests.length).toBe(500);
  expect(findings).toEqual([
    dropped("tests.500", "A workflow can have at most 500 tests."),
    info("Includes 500 tests."),
  ]);
});

test("a file holds of a test what is not as it would be without it, and reads back as the same", () => {
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
