import { describe, expect, test } from "vitest";
import { Guardrail } from "@/server/domain/agent/role";
import {
  changedRow,
  describeGuardrail,
  guardedReads,
  guardrailErrors,
  keptOf,
  rowsOf,
} from "./guardrail-rows";

const rule = (over: Partial<Guardrail>): Guardrail =>
  Guardrail.parse({ name: "short", kind: "expression", spec: "size(output.text) < 9", ...over });

describe("guardrail summary", () => {
  test.each<[Partial<Guardrail>, string]>([
    [{}, "Output: size(output.text) < 9; otherwise retries up to 2 times"],
    [
      { kind: "json_schema", spec: '{"properties":{"a":{},"b":{}}}', max_retries: 1 },
      "Output: matches a schema with a, b; otherwise retries once",
    ],
    [
      { target: "tool_input", kind: "regex", spec: "^a", on_fail: "fail" },
      "Tool input: matches ^a; otherwise fails",
    ],
    [
      { kind: "llm_judge", spec: "it rhymes.", on_fail: "escalate" },
      "Output: a judge finds that it rhymes; otherwise asks a person",
    ],
    [
      { target: "input", kind: "registered", spec: "no_secrets", on_fail: "warn" },
      "Input: no API keys, access tokens or private keys; otherwise warns",
    ],
  ])("%j is summarized as %s", (over, expected) => expect(describeGuardrail(rule(over))).toBe(expected));
});

test("an invalid guardrail keeps its last valid version", () => {
  const [saved] = rowsOf([rule({})]);
  const torn = changedRow(saved!, { spec: "size(" });
  const fresh = changedRow({ now: rule({ spec: "" }), kept: null }, { name: "new" });
  expect(keptOf([torn, fresh])).toEqual([rule({})]);
  expect(keptOf([changedRow(torn, { spec: "true" }), changedRow(fresh, { spec: "true" })])).toEqual([
    rule({ spec: "true" }),
    rule({ name: "new", spec: "true" }),
  ]);
});

test("each check type keeps its own text, and switching back restores the saved one", () => {
  const [saved] = rowsOf([rule({})]);
  const other = changedRow(saved!, { kind: "llm_judge" });
  expect(other).toEqual({ now: rule({ kind: "llm_judge", spec: "" }), kept: rule({}) });
  expect(changedRow(other, { kind: "expression" }).now).toEqual(rule({}));
});

test("an input guardrail can't retry", () => {
  expect(changedRow(rowsOf([rule({})])[0]!, { target: "input" }).now.on_fail).toBe("fail");
});

test("each guardrail error is reported at its field", () => {
  expect(guardrailErrors(rule({ name: " " }))).toEqual({ name: "A guardrail needs a name." });
  expect(guardrailErrors(rule({ kind: "regex", spec: "(a+" })).spec).toMatch(
    /^Invalid pattern: a group is not closed/,
  );
  expect(guardrailErrors(rule({ spec: "1 + 1" })).spec).toMatch(/true or false/);
  expect(guardrailErrors(rule({ kind: "json_schema", spec: "{" })).spec).toBe("Define a schema.");
  expect(guardrailErrors(rule({ kind: "registered", spec: "constructor" })).spec).toBe(
    "Unknown check “constructor”. Choose one.",
  );
});

test("a guardrail expression suggests the keys it checks", () => {
  const keys = { input: ["topic"], output: ["text"] };
  expect(guardedReads("output", keys)).toEqual(["output.text"]);
  expect(guardedReads("input", keys)).toEqual(["input.task", "input.topic"]);
});
