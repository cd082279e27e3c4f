import { expect, test } from "vitest";
import { termsOf, timeoutDiagnostics } from "./question-terms";

test("a question has the terms that are set, without empty names and subjects", () => {
  const set = { timeout_s: 5, default_response: null, urgency: "low" as const, assigned_to: "Ann" };
  expect(termsOf({})).toEqual({});
  expect(termsOf({ ...set, required_expertise: ["law"] })).toEqual({ ...set, required_expertise: ["law"] });
  expect(termsOf({ assigned_to: "", required_expertise: [" ", ""] })).toEqual({});
  expect(termsOf({ required_expertise: ["", "tax"] })).toEqual({ required_expertise: ["tax"] });
});

test("an escalation needs somebody to ask, each level later than the one before", () => {
  const codes = (...after: number[]) =>
    timeoutDiagnostics(
      { on_timeout: "escalate", escalation: after.map((after_s) => ({ after_s, to: "a" })) },
      null,
    ).map(({ severity, code, field }) => [severity, code, field]);
  const error = [["error", "E_QUESTION_ESCALATION", "escalation"]];
  expect(codes()).toEqual(error);
  expect(codes(1, 2)).toEqual([]);
  expect(codes(2, 2)).toEqual(error);
});

test("what a kind has against its own timeout is told at that field", () => {
  expect(timeoutDiagnostics({}, null)).toEqual([]);
  expect(timeoutDiagnostics({}, "No.")).toMatchObject([
    { code: "E_QUESTION_TIMEOUT", message: "No.", field: "on_timeout" },
  ]);
});
