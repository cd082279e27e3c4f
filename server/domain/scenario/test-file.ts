import { defined } from "@/server/domain/base/defined";
import { issueTexts } from "@/server/domain/base/issues/issue-text";
import { parseJson } from "@/server/domain/base/json";
import { type Finding, isRaw } from "@/server/domain/base/lenient-reader";
import type { Json } from "@/server/domain/base/values";
import { MOST_TESTS, ScenarioFields, ScenarioTest } from "./scenario-test";

export interface ReadTests {
  tests: ScenarioTest[];
  findings: Finding[];
}

/** Reads the tests of a workflow file. An unreadable one is dropped with a finding. */
export function readTests(value: unknown): ReadTests {
  const findings: Finding[] = [];
  if (value === undefined) return { tests: [], findings };
  if (!Array.isArray(value)) {
    findings.push({ level: "dropped", at: "tests", message: "Tests must be a list; they were left out." });
    return { tests: [], findings };
  }
  const tests: ScenarioTest[] = [];
  const ids = new Set<string>();
  for (const [k, one] of value.entries()) {
    const at = `tests.${k}`;
    const read = ScenarioTest.safeParse(withId(one, k));
    if (!read.success)
      findings.push({
        level: "dropped",
        at,
        message: `This test was left out: ${issueTexts(read.error, 3).join("; ")}`,
      });
    else if (ids.has(read.data.id))
      findings.push({
        level: "dropped",
        at,
        message: `A second test with the id ${read.data.id} was left out.`,
      });
    else if (tests.length >= MOST_TESTS)
      findings.push({ level: "dropped", at, message: `A workflow can have at most ${MOST_TESTS} tests.` });
    else {
      ids.add(read.data.id);
      tests.push(read.data);
    }
  }
  if (tests.length > 0)
    findings.push({
      level: "info",
      at: "tests",
      message: tests.length === 1 ? "Includes 1 test." : `Includes ${tests.length} tests.`,
    });
  return { tests, findings };
}

/** The id is optional in hand-written tests. */
const withId = (one: unknown, k: number): unknown => (isRaw(one) ? { id: `test_${k + 1}`, ...one } : one);

/** Tests for a file, without empty fields. */
export const writtenTests = (tests: readonly ScenarioTest[]): Json[] =>
  tests.map(({ id, ...fields }) => {
    const { people, input, expect, ...rest } = ScenarioFields.parse(fields);
    const written = {
      id,
      ...rest,
      ...defined({
        input: Object.keys(input).length > 0 ? input : undefined,
        people: people.length > 0 ? people : undefined,
        expect: expect.length > 0 ? expect : undefined,
      }),
    };
    return parseJson(JSON.stringify(written));
  });
