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
])("a gate with %j has the summary %s", (config, summary) => {
  expect(summaryOf("approval_gate", config)).toBe(summary);
});

describe("the routes of a gate", () => {
  const exitsOf = (config: object) =>
    getNodeKind("approval_gate").exits?.(nodeOf("approval_gate", config).config);
  const [yes, no] = [{ label: "approved" }, { label: "rejected" }];
  const silent = { label: "timeout", title: "No answer" };
  test.each([
    ["are its options", {}, [yes, no]],
    ["list a duplicate option once", { options: ["a", "b", "a"] }, [{ label: "a" }, { label: "b" }]],
    ["include a timeout if it continues", { on_timeout: "continue" }, [yes, no, silent]],
    ["include no timeout if it fails", { on_timeout: "fail" }, [yes, no]],
    ["include no timeout if it's advisory", { on_timeout: "continue", mode: "advisory" }, [yes, no]],
    ["include a timeout if it's synchronous", { on_timeout: "continue", mode: "sync" }, [yes, no, silent]],
    [
      "include no second timeout if an option has that name",
      { on_timeout: "continue", options: ["timeout"] },
      [{ label: "timeout" }],
    ],
  ])("the routes of a gate %s", (_what, config, exits) => {
    expect(exitsOf(config)).toEqual(exits);
  });
});

describe("gate diagnostics", () => {
  const diagnosticsOf = (config: object) => {
    const node = nodeOf("approval_gate", config);
    return getNodeKind("approval_gate")
      .validate?.(node.config, node, () => null)
      .map(({ severity, code, field }) => [severity, code, field]);
  };
  const timeout = ["error", "E_QUESTION_TIMEOUT", "on_timeout"];
  test.each([
    ["with default settings is valid", {}, []],
    ["without options is invalid", { options: [] }, [["error", "E_GATE_NO_OPTIONS", "options"]]],
    [
      "with options that differ only in case is invalid",
      { options: ["Go", "go"] },
      [["error", "E_GATE_OPTION_TWICE", "options"]],
    ],
    [
      "that approves on timeout needs an approving option",
      { on_timeout: "approve", options: ["ship", "no"] },
      [timeout],
    ],
    [
      "that approves on timeout is valid with an approving option",
      { on_timeout: "approve", options: ["Yes"] },
      [],
    ],
    [
      "that rejects on timeout needs a rejecting option",
      { on_timeout: "reject", options: ["ship", "yes"] },
      [timeout],
    ],
    [
      "that rejects on timeout is valid with a rejecting option",
      { on_timeout: "reject", options: ["No"] },
      [],
    ],
    ["that defaults on timeout needs a default response", { on_timeout: "default" }, [timeout]],
    [
      "that defaults on timeout is valid with a default response",
      { on_timeout: "default", default_response: "APPROVED" },
      [],
    ],
    [
      "that is advisory needs a default response",
      { mode: "advisory" },
      [["error", "E_GATE_WAY_MEANWHILE", "default_response"]],
    ],
    [
      "that is advisory is valid with a default response",
      { mode: "advisory", default_response: "approved" },
      [],
    ],
    ["that is asynchronous needs no default response", { mode: "async" }, []],
    [
      "that escalates needs an escalation level",
      { on_timeout: "escalate" },
      [["error", "E_QUESTION_ESCALATION", "escalation"]],
    ],
  ])("a gate %s", (_what, config, diagnostics) => {
    expect(diagnosticsOf(config)).toEqual(diagnostics);
  });
});

test.each([
  [{}, []],
  [{ title: "A {{a}}" }, [{ field: "title", template: "A {{a}}" }]],
  [{ body_template: "B" }, [{ field: "body_template", template: "B" }]],
])("a gate with %j lists its templates", (config, templates) => {
  expect(getNodeKind("approval_gate").templates?.(nodeOf("approval_gate", config).config)).toEqual(templates);
});

describe("a gate's question", () => {
  const options = [
    { label: "approved", value: "approved" },
    { label: "rejected", value: "rejected" },
  ];
  const base = { kind: "approval", why: "The workflow continues with the option you choose.", options };
  test.each<[string, object, World, object]>([
    ["has the node ID in its title if nothing has a name", {}, {}, { title: "Decision needed: it" }],
    [
      "has the node's name in its title",
      {},
      { node: { name: "Check" } },
      { title: "Decision needed: Check" },
    ],
    ["has its own title", { title: "Is {{a}} good?" }, { state: { a: "x" } }, { title: "Is x good?" }],
    [
      "has the default title if its own renders empty",
      { title: "{{a}}" },
      {},
      { title: "Decision needed: it" },
    ],
    [
      "includes the rendered body",
      { title: "Q", body_template: "It is {{a}}" },
      { state: { a: 1 } },
      { title: "Q", body: "It is 1" },
    ],
    [
      "offers the first output key's text for editing, next to the body",
      { title: "Q", body_template: "About", allow_edit: true },
      { state: { draft: "old" }, node: { output_keys: ["draft", "other"] } },
      { title: "Q", body: "About", draft: "old" },
    ],
    [
      "offers the node's input rather than the state's value",
      { title: "Q", allow_edit: true },
      { state: { draft: "old" }, input: { draft: "mine" }, node: { output_keys: ["draft"] } },
      { title: "Q", draft: "mine" },
    ],
    [
      "offers the body for editing if the key has no value",
      { title: "Q", body_template: "About", allow_edit: true },
      { node: { output_keys: ["draft"] } },
      { title: "Q", draft: "About" },
    ],
    [
      "offers the body for editing if the key is null",
      { title: "Q", body_template: "About", allow_edit: true },
      { state: { draft: null }, node: { output_keys: ["draft"] } },
      { title: "Q", draft: "About" },
    ],
    [
      "offers an empty text if there is nothing to edit",
      { title: "Q", allow_edit: true },
      { state: { undefined: "no" } },
      { title: "Q", draft: "" },
    ],
    [
      "includes the configured terms",
      { title: "Q", assigned_to: "Ann", timeout_s: 5, urgency: "high" },
      {},
      { title: "Q", assigned_to: "Ann", timeout_s: 5, urgency: "high" },
    ],
  ])("a gate's question %s", (_what, config, world, question) => {
    const { asked } = gate(config, { answer: chosen("approved"), ...world });
    expect(asked).toEqual([["person", "approval", { ...base, ...question }]]);
  });
  test("a gate fails if the value to edit isn't text", () => {
    const node = { output_keys: ["draft"] };
    const failed = (more: object) =>
      failureOf({ allow_edit: true }, { state: { draft: 4 }, node: { ...node, ...more } });
    expect(failed({})).toMatchObject({ code: "CONFIG", retryable: false, user_action: "edit_graph" });
    expect(failed({ name: "Check" })?.message).toMatch(/Check.*draft/);
  });
});

describe("a gate's result", () => {
  const keys = (...output_keys: string[]) => ({ node: { output_keys } });
  test.each<[string, object, World, object]>([
    [
      "the route and who decided",
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
      "its parts under their own names, with missing parts null or empty",
      {},
      { answer: chosen("approved"), ...keys("decision", "comment", "draft", "answered_by") },
      {
        output: { decision: "approved", comment: "", draft: null, answered_by: "user" },
        labels: ["approved"],
        why: { reason: "Someone in the app decided." },
      },
    ],
    [
      "the decision and the comment under the first two custom keys",
      {},
      { answer: chosen("approved", { message: "fine" }), ...keys("a", "b", "c") },
      {
        output: { a: "approved", b: "fine" },
        labels: ["approved"],
        why: { reason: "Someone in the app decided: fine" },
      },
    ],
    [
      "the comment under a custom key next to the decision",
      {},
      { answer: chosen("approved", { message: "fine" }), ...keys("a", "decision") },
      {
        output: { a: "fine", decision: "approved" },
        labels: ["approved"],
        why: { reason: "Someone in the app decided: fine" },
      },
    ],
    [
      "the edited text first if editing is allowed",
      { allow_edit: true },
      { answer: chosen("approved", { value: "new" }), state: { a: "old" }, ...keys("a", "b", "c") },
      {
        output: { a: "new", b: "", c: "approved" },
        labels: ["approved"],
        why: { reason: "Someone in the app decided." },
      },
    ],
    [
      "the original text if it wasn't edited",
      { allow_edit: true },
      { answer: chosen("approved", { value: 7 }), state: { a: "old" }, ...keys("a") },
      { output: { a: "old" }, labels: ["approved"], why: { reason: "Someone in the app decided." } },
    ],
    [
      "the default response at once if it's advisory",
      { mode: "advisory", default_response: "Rejected" },
      { answer: pending },
      { output: {}, labels: ["rejected"], why: { reason: "Not waiting for an answer." } },
    ],
    [
      "no route if no answer is awaited and the default is invalid",
      { default_response: 4 },
      { answer: pending },
      { output: {}, labels: [""], why: { reason: "Not waiting for an answer." } },
    ],
    [
      "the missed deadline as the reason",
      { on_timeout: "reject" },
      { answer: expired },
      { output: {}, labels: ["rejected"], why: { reason: "No answer before the deadline." } },
    ],
  ])("a gate returns %s", (_what, config, world, gave) => {
    expect(gate(config, world).gave).toEqual(gave);
  });
});

describe("a gate's timeout", () => {
  const timeoutExit = { exits: [{ label: null }, { label: "timeout" }] };
  test.each<[string, object, World, string[] | undefined]>([
    ["rejects by default", {}, {}, ["rejected"]],
    ["takes the timeout route if it's connected", {}, timeoutExit, ["timeout"]],
    ["set to reject ignores a connected timeout route", { on_timeout: "reject" }, timeoutExit, ["rejected"]],
    ["set to continue takes the timeout route", { on_timeout: "continue" }, {}, ["timeout"]],
    ["set to approve approves", { on_timeout: "approve" }, {}, ["approved"]],
    [
      "set to default takes the default response",
      { on_timeout: "default", default_response: "approved" },
      {},
      ["approved"],
    ],
    ["set to default fails without a default response", { on_timeout: "default" }, {}, undefined],
    ["set to fail fails despite a rejecting option", { on_timeout: "fail" }, {}, undefined],
    ["fails after the last escalation level", { on_timeout: "escalate" }, {}, undefined],
    ["fails without a rejecting option", { options: ["a", "b"] }, {}, undefined],
  ])("on timeout, a gate %s", (_what, config, world, labels) => {
    expect(labelsOf(config, { answer: expired, ...world })).toEqual(labels);
  });
  test("a timeout failure names the gate and suggests a retry", () => {
    const failed = (node: object) => failureOf({ on_timeout: "fail" }, { answer: expired, node });
    expect(failed({})).toMatchObject({ code: "HUMAN_TIMEOUT", retryable: false, user_action: "retry" });
    expect(failed({})?.message).toContain("“it”");
    expect(failed({ name: "Check" })?.message).toContain("“Check”");
  });
});

describe("a declined gate", () => {
  test("a declined gate takes its rejecting option, whatever the timeout setting", () => {
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
  ])("a declined gate without a rejecting option fails: %j, %s", (node, message, expected) => {
    const answer = { answer: "reject", by: "user", ...(message ? { message } : {}) };
    expect(failureOf({ options: ["a", "b"] }, { answer, node })).toEqual({
      code: "HUMAN_REJECTED",
      message: expected,
      retryable: false,
      user_action: "retry",
    });
  });
});
