import { expect, test } from "vitest";
import { CREW_QUESTION_FIELDS, questionFields, termsOf, timeoutFaults } from "./question-terms";

const TERMS = ["assigned_to", "required_expertise", "urgency", "mode", "timeout_s", "on_timeout"];
const valuesOf = (fields: readonly { key: string; options?: readonly { value: string }[] }[], key: string) =>
  fields.find((field) => field.key === key)?.options?.map(({ value }) => value);

test("every node that asks has the same folded away fields, and a standard answer of its own kind", () => {
  const [form, gate] = [questionFields("json"), questionFields("label")];
  const keys = [...TERMS, "default_response", "escalation"];
  expect([form.map(({ key }) => key), gate.map(({ key }) => key)]).toEqual([keys, keys]);
  expect([form, gate].map((fields) => fields.find(({ key }) => key === "default_response")?.as)).toEqual([
    "json",
    "label",
  ]);
  expect(form.every(({ isRare }) => isRare === true)).toBe(true);
});

test("a crew asks on the same terms, without those that only a node can follow", () => {
  expect(CREW_QUESTION_FIELDS.map(({ key }) => key)).toEqual([...TERMS, "escalation"]);
  expect(valuesOf(CREW_QUESTION_FIELDS, "mode")).toEqual(["async", "sync"]);
  expect(valuesOf(CREW_QUESTION_FIELDS, "on_timeout")).toEqual(["reject", "fail", "escalate", "approve"]);
  expect(valuesOf(CREW_QUESTION_FIELDS, "urgency")).toEqual(["low", "normal", "high", "critical"]);
  expect(CREW_QUESTION_FIELDS.filter((field) => "options" in field).map(({ key }) => key)).toEqual([
    "urgency",
    "mode",
    "on_timeout",
  ]);
});

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
])("what is wrong with what follows silence: %s", (_what, terms, own, faults) => {
  const found = timeoutFaults(terms, own);
  expect(found.map(({ code, message, field }) => [code, message, field])).toEqual(faults);
  expect(found.every(({ severity }) => severity === "error")).toBe(true);
});
