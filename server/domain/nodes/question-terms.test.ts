import { expect, test } from "vitest";
import { termsOf, timeoutDiagnostics } from "./question-terms";

const all = {
  mode: "sync" as const,
  timeout_s: 5,
  on_timeout: "fail" as const,
  default_response: null,
  urgency: "low" as const,
  assigned_to: "Ann",
  required_expertise: ["law"],
  escalation: [],
};
test.each([
  ["are none where none are set", {}, {}],
  ["are all that are set, null as a standard answer among them", all, all],
  ["leave out names and subjects that are empty", { assigned_to: "", required_expertise: [" ", ""] }, {}],
  [
    "keep the subjects that are none of them empty",
    { required_expertise: ["", "tax"] },
    { required_expertise: ["tax"] },
  ],
])("the terms of a question %s", (_what, config, terms) => {
  expect(termsOf(config)).toEqual(terms);
});

test.each([
  ["nothing", {}, null, []],
  ["what the kind has against it", {}, "No.", [["E_QUESTION_TIMEOUT", "No.", "on_timeout"]]],
  [
    "nobody to ask next",
    { on_timeout: "escalate" as const },
    null,
    [
      [
        "E_QUESTION_ESCALATION",
        "Say who is asked where nobody answers: add at least one level.",
        "escalation",
      ],
    ],
  ],
  [
    "nothing, with somebody to ask next",
    { on_timeout: "escalate" as const, escalation: [{ after_s: 1, to: "a" }] },
    null,
    [],
  ],
  [
    "levels at the same time",
    {
      escalation: [
        { after_s: 2, to: "a" },
        { after_s: 2, to: "b" },
      ],
    },
    "No.",
    [
      ["E_QUESTION_TIMEOUT", "No.", "on_timeout"],
      [
        "E_QUESTION_ESCALATION",
        "Each level of the escalation must come later than the one before.",
        "escalation",
      ],
    ],
  ],
  [
    "nothing, where each level is later",
    {
      escalation: [
        { after_s: 1, to: "a" },
        { after_s: 2, to: "b" },
      ],
    },
    null,
    [],
  ],
])("what is wrong with what follows silence: %s", (_what, terms, own, diagnostics) => {
  const found = timeoutDiagnostics(terms, own);
  expect(found.map(({ code, message, field }) => [code, message, field])).toEqual(diagnostics);
  expect(found.every(({ severity }) => severity === "error")).toBe(true);
});
