import { describe, expect, test } from "vitest";
import { getNodeKind } from ".";
import { executeNode, nodeOf, summaryOf, type World } from "./testing/execute-node";

const chosen = (option: string, more: object = {}) => ({ answer: "chosen", option, by: "user", ...more });
const expired = { answer: "expired", by: "system" };
const pending = { answer: "pending", by: "system" };
const gate = (config: object, world: World) => executeNode("approval_gate", config, world);
const labelsOf = (config: object, world: World) => {
  const { gave } = gate(config, world);
  return gave && "labels" in gave ? gave.labels : undefined;
};
const failureOf = (config: object, world: World) => gate(config, world).failed;

test.each([
  [{ options: [] }, "No options yet"],
  [{}, "Asks: approved or rejected"],
  [{ assigned_to: "Ann", options: ["yes"] }, "Asks Ann: yes"],
])("a card with %j says %s", (config, summary) => {
  expect(summaryOf("approval_gate", config)).toBe(summary);
});

describe("the ways out of a gate", () => {
  const exitsOf = (config: object) =>
    getNodeKind("approval_gate").exits?.(nodeOf("approval_gate", config).config);
  const [yes, no] = [{ label: "approved" }, { label: "rejected" }];
  const silent = { label: "timeout", title: "No answer" };
  test.each([
    ["are its answers", {}, [yes, no]],
    [
      "name an answer once that stands there twice",
      { options: ["a", "b", "a"] },
      [{ label: "a" }, { label: "b" }],
    ],
    ["have one for silence where it then goes on", { on_timeout: "continue" }, [yes, no, silent]],
    ["have none for silence where it fails", { on_timeout: "fail" }, [yes, no]],
    [
      "have none for silence where nobody is waited for",
      { on_timeout: "continue", mode: "advisory" },
      [yes, no],
    ],
    ["have one for silence where all wait", { on_timeout: "continue", mode: "sync" }, [yes, no, silent]],
    [
      "have no second one for silence where an answer is called that",
      { on_timeout: "continue", options: ["timeout"] },
      [{ label: "timeout" }],
    ],
  ])("%s", (_what, config, exits) => {
    expect(exitsOf(config)).toEqual(exits);
  });
});

describe("what is wrong with a gate by itself", () => {
  const diagnosticsOf = (config: object) => {
    const node = nodeOf("approval_gate", config);
    return getNodeKind("approval_gate")
      .validate?.(node.config, node, () => null)
      .map(({ severity, code, field }) => [severity, code, field]);
  };
  const timeout = ["error", "E_QUESTION_TIMEOUT", "on_timeout"];
  test.each([
    ["nothing where it is as it is placed", {}, []],
    ["no answer at all", { options: [] }, [["error", "E_GATE_NO_OPTIONS", "options"]]],
    [
      "an answer twice, in other letters",
      { options: ["Go", "go"] },
      [["error", "E_GATE_OPTION_TWICE", "options"]],
    ],
    [
      "silence counts as yes, and no answer says yes",
      { on_timeout: "approve", options: ["ship", "no"] },
      [timeout],
    ],
    ["nothing where silence counts as yes", { on_timeout: "approve", options: ["Yes"] }, []],
    [
      "silence counts as no, and no answer says no",
      { on_timeout: "reject", options: ["ship", "yes"] },
      [timeout],
    ],
    ["nothing where silence counts as no", { on_timeout: "reject", options: ["No"] }, []],
    ["a standard answer to stand, and none is set", { on_timeout: "default" }, [timeout]],
    ["nothing where a standard answer stands", { on_timeout: "default", default_response: "APPROVED" }, []],
    [
      "nobody is waited for, with no way meanwhile",
      { mode: "advisory" },
      [["error", "E_GATE_WAY_MEANWHILE", "default_response"]],
    ],
    ["nothing where there is a way meanwhile", { mode: "advisory", default_response: "approved" }, []],
    ["nothing where no way meanwhile is needed", { mode: "async" }, []],
    [
      "nobody to be asked next",
      { on_timeout: "escalate" },
      [["error", "E_QUESTION_ESCALATION", "escalation"]],
    ],
  ])("%s", (_what, config, diagnostics) => {
    expect(diagnosticsOf(config)).toEqual(diagnostics);
  });
});

test.each([
  [{}, []],
  [{ title: "A {{a}}" }, [{ field: "title", template: "A {{a}}" }]],
  [{ body_template: "B" }, [{ field: "body_template", template: "B" }]],
])("the templates of a gate with %j are found", (config, templates) => {
  expect(getNodeKind("approval_gate").templates?.(nodeOf("approval_gate", config).config)).toEqual(templates);
});

describe("what a person is asked", () => {
  const options = [
    { label: "approved", value: "approved" },
    { label: "rejected", value: "rejected" },
  ];
  const base = { kind: "approval", why: "The workflow continues with the option you choose.", options };
  test.each<[string, object, World, object]>([
    ["has the id as its title where nothing has a name", {}, {}, { title: "Decision needed: it" }],
    [
      "has the node's name in its title",
      {},
      { node: { name: "Check" } },
      { title: "Decision needed: Check" },
    ],
    ["has its own title", { title: "Is {{a}} good?" }, { state: { a: "x" } }, { title: "Is x good?" }],
    [
      "has the usual title where its own is empty once filled in",
      { title: "{{a}}" },
      {},
      { title: "Decision needed: it" },
    ],
    [
      "says what it is about",
      { title: "Q", body_template: "It is {{a}}" },
      { state: { a: 1 } },
      { title: "Q", body: "It is 1" },
    ],
    [
      "offers the present text of the first key for change, beside what it is about",
      { title: "Q", body_template: "About", allow_edit: true },
      { state: { draft: "old" }, node: { output_keys: ["draft", "other"] } },
      { title: "Q", body: "About", draft: "old" },
    ],
    [
      "offers what the node reads rather than what the state holds",
      { title: "Q", allow_edit: true },
      { state: { draft: "old" }, input: { draft: "mine" }, node: { output_keys: ["draft"] } },
      { title: "Q", draft: "mine" },
    ],
    [
      "offers what it is about where the key has no value yet, and does not say it twice",
      { title: "Q", body_template: "About", allow_edit: true },
      { node: { output_keys: ["draft"] } },
      { title: "Q", draft: "About" },
    ],
    [
      "offers what it is about where the key is null",
      { title: "Q", body_template: "About", allow_edit: true },
      { state: { draft: null }, node: { output_keys: ["draft"] } },
      { title: "Q", draft: "About" },
    ],
    [
      "offers an empty text where nothing is there at all",
      { title: "Q", allow_edit: true },
      { state: { undefined: "no" } },
      { title: "Q", draft: "" },
    ],
    [
      "has the terms that are set",
      { title: "Q", assigned_to: "Ann", timeout_s: 5, urgency: "high" },
      {},
      { title: "Q", assigned_to: "Ann", timeout_s: 5, urgency: "high" },
    ],
  ])("%s", (_what, config, world, question) => {
    const { asked } = gate(config, { answer: chosen("approved"), ...world });
    expect(asked).toEqual([["person", "approval", { ...base, ...question }]]);
  });
  test("is refused where a person would have to change what is no text", () => {
    const node = { output_keys: ["draft"] };
    const failed = (more: object) =>
      failureOf({ allow_edit: true }, { state: { draft: 4 }, node: { ...node, ...more } });
    expect(failed({})).toMatchObject({ code: "CONFIG", retryable: false, user_action: "edit_graph" });
    expect(failed({ name: "Check" })?.message).toMatch(/Check.*draft/);
  });
});

describe("what a gate gives", () => {
  const keys = (...output_keys: string[]) => ({ node: { output_keys } });
  test.each<[string, object, World, object]>([
    [
      "the way and who decided",
      {},
      { answer: chosen("approved", { by: "Ann" }) },
      { output: {}, labels: ["approved"], why: { reason: "Ann decided." } },
    ],
    [
      "the comment as the reason",
      {},
      { answer: chosen("rejected", { message: "too long" }) },
      { output: {}, labels: ["rejected"], why: { reason: "Someone in the app decided: too long" } },
    ],
    [
      "its parts under their own names, and what there is none of as null or empty",
      {},
      { answer: chosen("approved"), ...keys("decision", "comment", "draft", "answered_by") },
      {
        output: { decision: "approved", comment: "", draft: null, answered_by: "user" },
        labels: ["approved"],
        why: { reason: "Someone in the app decided." },
      },
    ],
    [
      "the decision, then the comment, under names of one's own, and nothing for more",
      {},
      { answer: chosen("approved", { message: "fine" }), ...keys("a", "b", "c") },
      {
        output: { a: "approved", b: "fine" },
        labels: ["approved"],
        why: { reason: "Someone in the app decided: fine" },
      },
    ],
    [
      "the other part under a name of one's own beside one of its names",
      {},
      { answer: chosen("approved", { message: "fine" }), ...keys("a", "decision") },
      {
        output: { a: "fine", decision: "approved" },
        labels: ["approved"],
        why: { reason: "Someone in the app decided: fine" },
      },
    ],
    [
      "the changed text first where it may be changed",
      { allow_edit: true },
      { answer: chosen("approved", { value: "new" }), state: { a: "old" }, ...keys("a", "b", "c") },
      {
        output: { a: "new", b: "", c: "approved" },
        labels: ["approved"],
        why: { reason: "Someone in the app decided." },
      },
    ],
    [
      "the text as it was where nobody changed it",
      { allow_edit: true },
      { answer: chosen("approved", { value: 7 }), state: { a: "old" }, ...keys("a") },
      { output: { a: "old" }, labels: ["approved"], why: { reason: "Someone in the app decided." } },
    ],
    [
      "the standing answer meanwhile where nobody is waited for",
      { mode: "advisory", default_response: "Rejected" },
      { answer: pending },
      { output: {}, labels: ["rejected"], why: { reason: "Not waiting for an answer." } },
    ],
    [
      "no way at all where nobody is waited for and no answer stands",
      { default_response: 4 },
      { answer: pending },
      { output: {}, labels: [""], why: { reason: "Not waiting for an answer." } },
    ],
    [
      "that nobody answered in time",
      { on_timeout: "reject" },
      { answer: expired },
      { output: {}, labels: ["rejected"], why: { reason: "No answer before the deadline." } },
    ],
  ])("%s", (_what, config, world, gave) => {
    expect(gate(config, world).gave).toEqual(gave);
  });
});

describe("where nobody answers in time", () => {
  const timeoutExit = { exits: [{ label: null }, { label: "timeout" }] };
  test.each<[string, object, World, string[] | undefined]>([
    ["it counts as no, if nothing is said", {}, {}, ["rejected"]],
    ["the way for that is taken, if one is drawn", {}, timeoutExit, ["timeout"]],
    [
      "a drawn way for that is not taken if it is to count as no",
      { on_timeout: "reject" },
      timeoutExit,
      ["rejected"],
    ],
    ["it goes on without", { on_timeout: "continue" }, {}, ["timeout"]],
    ["it counts as yes", { on_timeout: "approve" }, {}, ["approved"]],
    ["the standard answer stands", { on_timeout: "default", default_response: "approved" }, {}, ["approved"]],
    ["it fails where no standard answer is set", { on_timeout: "default" }, {}, undefined],
    ["it fails if it shall, though an answer says no", { on_timeout: "fail" }, {}, undefined],
    ["it fails after the last level of an escalation", { on_timeout: "escalate" }, {}, undefined],
    ["it fails where no answer says no", { options: ["a", "b"] }, {}, undefined],
  ])("%s", (_what, config, world, labels) => {
    expect(labelsOf(config, { answer: expired, ...world })).toEqual(labels);
  });
  test("the failure names the gate, and another attempt may be made", () => {
    const failed = (node: object) => failureOf({ on_timeout: "fail" }, { answer: expired, node });
    expect(failed({})).toMatchObject({ code: "HUMAN_TIMEOUT", retryable: false, user_action: "retry" });
    expect(failed({})?.message).toContain("“it”");
    expect(failed({ name: "Check" })?.message).toContain("“Check”");
  });
});

describe("where a person declines to choose", () => {
  test("the answer that means no is taken, whatever silence means", () => {
    const answer = { answer: "reject", by: "user" };
    expect(labelsOf({ on_timeout: "approve", options: ["yes", "Denied"] }, { answer })).toEqual(["Denied"]);
  });
  test.each([
    [{}, undefined, "“it” was declined, but no option is named “rejected” or “no”."],
    [
      { name: "Check" },
      "not today",
      "“Check” was declined, but no option is named “rejected” or “no”: not today",
    ],
  ])("a gate without such an answer fails: %j, %s", (node, message, expected) => {
    const answer = { answer: "reject", by: "user", ...(message ? { message } : {}) };
    expect(failureOf({ options: ["a", "b"] }, { answer, node })).toEqual({
      code: "HUMAN_REJECTED",
      message: expected,
      retryable: false,
      user_action: "retry",
    });
  });
});
