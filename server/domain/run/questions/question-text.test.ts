import { expect, test } from "vitest";
import { containing } from "@/server/domain/testing/containing";
import { answerLabel, askedOf, whenSilent } from "./question-text";

const options = ["approved", "rejected"].map((label) => ({ label, value: label }));
const escalation = [{ after_s: 60, to: "the lead" }];

test.each<[Parameters<typeof whenSilent>[0], number, string]>([
  [{ kind: "tool_confirmation" }, 0, "counts as rejection"],
  [{ kind: "approval", options }, 0, "means “rejected”"],
  [{ kind: "approval", options, on_timeout: "approve" }, 0, "means “approved”"],
  [{ kind: "approval", options, on_timeout: "default", default_response: "later" }, 0, "means “later”"],
  [{ kind: "approval", options: [{ label: "ship", value: "ship" }] }, 0, "fails this step"],
  [{ kind: "approval", options, on_timeout: "escalate", escalation }, 0, "escalates the question"],
  [{ kind: "approval", options, on_timeout: "escalate", escalation }, 1, "fails this step"],
  [{ kind: "input" }, 0, "fails this step"],
  [{ kind: "budget", options }, 0, "leaves the run stopped"],
  [{ kind: "feedback", mode: "advisory" }, 0, "changes nothing: the run continues meanwhile"],
  [{ kind: "review", on_timeout: "continue" }, 0, "continues the run without an answer"],
  [{ kind: "review", on_timeout: "fail" }, 0, "fails this step"],
  [{ kind: "review", on_timeout: "default" }, 0, "continues the run with the default answer"],
  [{ kind: "review", on_timeout: "approve" }, 0, "means yes"],
])("the consequence of a timeout is described: %o", (asked, levels, text) => {
  expect(whenSilent(asked, levels)).toEqual(containing(text));
});

test("urgency, assignee and required expertise of a question are listed as phrases", () => {
  expect(askedOf({ urgency: "critical", assigned_to: "ann", required_expertise: ["law", "tax"] })).toEqual([
    "Critical",
    "Assigned to ann",
    "Requires expertise: law, tax",
  ]);
  expect(askedOf({})).toEqual([]);
});

test("an answer with an option shows its label, or its value if the option is unknown", () => {
  const shipped = [{ label: "Ship it", value: "ship" }];
  expect(answerLabel({ answer: "chosen", option: "ship" }, { options: shipped })).toBe("Ship it");
  expect(answerLabel({ answer: "chosen", option: "later" }, { options: shipped })).toBe("later");
  expect(answerLabel({ answer: "chosen" }, { options: shipped })).toBe("");
});
