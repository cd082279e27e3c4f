import { expect, test } from "vitest";
import { suiteOf, type TestReport } from "@/server/domain/scenario/report";
import { junitOf } from "./junit";

const report = (more: Partial<TestReport>): TestReport => ({
  test_id: "one",
  name: "One",
  status: "passed",
  sentence: "The expectation passed.",
  problems: [],
  outcome: null,
  results: [],
  question: null,
  missed: null,
  repeats: null,
  ...more,
});

test("a test report is written as JUnit XML with special characters escaped", () => {
  const failed = report({
    test_id: "two",
    name: 'Says "<b>" & more\n',
    status: "failed",
    sentence: "It says ]]> and \u0007.",
    results: [
      {
        at: 0,
        expectation: { kind: "status", is: "COMPLETED" },
        status: "failed",
        sentence: "a < b",
        node_id: "a",
        seq: 7,
      },
    ],
  });
  const not_run = report({
    test_id: "three",
    status: "not_run",
    sentence: "No.",
    problems: ["There is no node b."],
  });
  const xml = junitOf(suiteOf("Mine & yours", [report({}), failed, not_run]), new Map([["one", 0.25]]));
  expect(xml).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="3" failures="1" errors="1" time="0.250">
  <testsuite name="Mine &amp; yours" tests="3" failures="1" errors="1" time="0.250">
    <testcase name="One" classname="Mine &amp; yours" time="0.250"/>
    <testcase name="Says &quot;&lt;b&gt;&quot; &amp; more&#10;" classname="Mine &amp; yours" time="0.000">
      <failure message="It says ]]&gt; and \ufffd.">a &lt; b (node a, event 7)</failure>
    </testcase>
    <testcase name="One" classname="Mine &amp; yours" time="0.000">
      <error message="No.">There is no node b.</error>
    </testcase>
  </testsuite>
</testsuites>
`);
});
