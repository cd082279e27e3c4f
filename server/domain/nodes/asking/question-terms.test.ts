import { expect, test } from "vitest";
import { termsOf, timeoutDiagnostics } from "./question-terms";

test("a question has the configured terms without empty names and expertise", () => {
  const set = { timeout_s: 5, default_response: null, urgency: "low" as const, assigned_to: "Ann" };
  expect(termsOf({})).toEqual({});
  expect(termsOf({ ...set, required_expertise: ["law"] })).toEqual({ ...set, required_expertise: ["law"] });
  expect(termsOf({ assigned_to: "", required_expertise: [" ", ""] })).toEqual({});
  expect(termsOf({ required_expertise: ["", "tax"] })).toEqual({ required_expertise: ["tax"] });
});

test("an escalation needs a level, and each level must be later than the previous", () => {
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

test("a node kind's timeout error is reported at on_timeout", () => {
  expect(timeoutDiagnostics({}, null)).toEqual([]);
  expect(timeoutDiagnostics({}, "No.")).toMatchObject([
    { code: "E_QUESTION_TIMEOUT", message: "No.", field: "on_timeout" },
  ]);
});
