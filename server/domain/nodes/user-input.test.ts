import { describe, expect, test } from "vitest";
import { getNodeKind } from ".";
import { executeNode, nodeOf, summaryOf, type World } from "./testing/execute-node";

const kind = getNodeKind("user_input");
const schemaOf = (...keys: string[]) => ({
  type: "object",
  properties: Object.fromEntries(keys.map((key) => [key, { type: "string" }])),
});
const one = { schema: schemaOf("name") };
const given = (value: unknown) => ({ answer: "given", value, by: "user" });
const ask = (config: object, world: World) => executeNode("user_input", config, world);

test.each([
  [{}, "No fields yet"],
  [{ schema: { properties: ["a"] } }, "No fields yet"],
  [{ schema: schemaOf() }, "No fields yet"],
  [{ schema: schemaOf("name", "age") }, "Asks for name, age"],
])("a card with %j says %s", (config, summary) => {
  expect(summaryOf("user_input", config)).toBe(summary);
});

test.each([
  ["the keys that it names", ["a"], ["a"]],
  ["the fields of its form where it names none", [], ["name"]],
])("a form writes %s", (_what, output_keys, written) => {
  const node = nodeOf("user_input", one, { output_keys });
  expect(kind.writes?.(node.config, node)).toEqual(written);
});

test.each([
  [{}, []],
  [{ title: "A {{a}}" }, [{ field: "title", template: "A {{a}}" }]],
  [{ body_template: "B" }, [{ field: "body_template", template: "B" }]],
])("the templates of a form with %j are found", (config, templates) => {
  expect(kind.templates?.(nodeOf("user_input", config).config)).toEqual(templates);
});

describe("what is wrong with a form by itself", () => {
  const fields = (of: object) => ({ schema: { properties: { ok: { type: "string" }, it: of } } });
  const noFields = ["error E_FORM_NO_FIELDS schema"];
  const file = ["error E_FORM_FILE schema"];
  const timeout = ["error E_QUESTION_TIMEOUT on_timeout"];
  test.each<[string, object, string[]]>([
    ["nothing, of one with a field", one, []],
    ["nothing, where a schema does not say that it is of an object", fields({ type: "string" }), []],
    ["no schema", {}, noFields],
    ["no fields", { schema: schemaOf() }, noFields],
    [
      "a schema of something else",
      { schema: { type: "array", properties: { a: {} } } },
      ["error E_FORM_SCHEMA schema"],
    ],
    ["nothing, of a field that may be anything", fields({}), []],
    ["nothing, of a field whose schema is true", { schema: { properties: { it: true } } }, []],
    ["nothing, of a field with another format", fields({ type: "string", format: "date" }), []],
    ["a file", fields({ type: "string", format: "binary" }), file],
    ["a file in a list of them", fields({ type: "array", items: { format: "data-url" } }), file],
    ["a file by its type of content", fields({ contentMediaType: "image/png" }), file],
    ["a file by its encoding", fields({ contentEncoding: "base64" }), file],
    ["nothing, where silence means no", { ...one, on_timeout: "reject", default_response: 3 }, []],
    ["silence that counts as yes", { ...one, on_timeout: "approve" }, timeout],
    ["no standard values", { ...one, on_timeout: "default" }, timeout],
    ["standard values that are none", { ...one, on_timeout: "default", default_response: ["a"] }, timeout],
    ["nothing, of standard values that fit", { ...one, on_timeout: "default", default_response: {} }, []],
    [
      "standard values that do not fit",
      { ...one, on_timeout: "default", default_response: { name: "odd" } },
      timeout,
    ],
    [
      "no values meanwhile",
      { ...one, mode: "advisory", default_response: "a" },
      ["error E_FORM_MEANWHILE default_response"],
    ],
    ["nothing, with values meanwhile", { ...one, mode: "advisory", default_response: { name: "a" } }, []],
    ["nothing, where no values meanwhile are needed", { ...one, mode: "sync", default_response: "a" }, []],
  ])("%s", (_what, config, diagnostics) => {
    const node = nodeOf("user_input", config);
    const misfit = (schema: { type?: unknown }, value: unknown) =>
      JSON.stringify(value).includes("odd") ? `${JSON.stringify(value)} of ${String(schema.type)}` : null;
    const found = kind.validate?.(node.config, node, misfit) ?? [];
    expect(found.map(({ severity, code, field }) => `${severity} ${code} ${field}`)).toEqual(diagnostics);
  });
});

describe("what a person is asked", () => {
  const base = { kind: "input", why: "The workflow continues with your input." };
  const unnamed = "Fill in “it”";
  test.each<[string, object, World, object]>([
    ["has the id as its title where nothing has a name", {}, {}, { title: unnamed, response_schema: {} }],
    [
      "has the node's name in its title, and its fields",
      one,
      { node: { name: "Ann" } },
      { title: "Fill in “Ann”", response_schema: one.schema },
    ],
    [
      "has its own title",
      { title: "Who, {{a}}?" },
      { state: { a: "x" } },
      { title: "Who, x?", response_schema: {} },
    ],
    [
      "has the usual title where its own is empty once filled in",
      { title: "{{a}}" },
      {},
      { title: unnamed, response_schema: {} },
    ],
    [
      "says what it is about, and its terms",
      { title: "Q", body_template: "It is {{a}}", urgency: "low" },
      { state: { a: 1 } },
      { title: "Q", body: "It is 1", response_schema: {}, urgency: "low" },
    ],
  ])("%s", (_what, config, world, question) => {
    expect(ask(config, { answer: given({}), ...world }).asked).toEqual([
      ["person", "form", { ...base, ...question }],
    ]);
  });
});

describe("what a form gives", () => {
  const form = { name: "Ann", age: 4 };
  test.each<[string, unknown, string[], object]>([
    ["all its fields where no keys are named", form, [], form],
    [
      "each key the field of its name, and null where there is none",
      form,
      ["age", "other"],
      { age: 4, other: null },
    ],
    ["one key the field of its name", form, ["age"], { age: 4 }],
    ["one key of another name the only field", { name: "Ann" }, ["who"], { who: "Ann" }],
    ["one key of another name the whole form of several fields", form, ["who"], { who: form }],
    ["one key of another name null where nothing was entered", {}, ["who"], { who: null }],
    ["several keys only fields of their names", { name: "Ann" }, ["who", "name"], { who: null, name: "Ann" }],
  ])("%s", (_what, value, output_keys, output) => {
    expect(ask(one, { answer: given(value), node: { output_keys } }).gave).toEqual({ output });
  });
});

describe("where nobody fills it in", () => {
  const standard = { default_response: { name: "standard" } };
  const expired = { answer: "expired", by: "system" };
  const pending = { answer: "pending", by: "system" };
  const declined = { answer: "reject", by: "user" };
  const failure = (code: string, message: string) => ({
    code,
    message,
    retryable: false,
    user_action: "retry",
  });
  const late = failure("HUMAN_TIMEOUT", "“it” wasn't filled in before the deadline.");
  const declinedIt = failure("HUMAN_REJECTED", "A person declined to fill in “it”.");
  test.each<[string, object, object, object]>([
    [
      "the standard values stand",
      { ...standard, on_timeout: "default" },
      expired,
      { output: { name: "standard" } },
    ],
    [
      "the standard values stand meanwhile where nobody is waited for",
      { ...standard, mode: "advisory" },
      pending,
      { output: { name: "standard" } },
    ],
    ["it goes on without", { on_timeout: "continue" }, expired, { output: { name: null } }],
    [
      "it goes on without, whatever the standard values",
      { ...standard, on_timeout: "continue" },
      expired,
      { output: { name: null } },
    ],
    ["it fails", {}, expired, late],
    ["it fails where standard values are not to stand", { ...standard, on_timeout: "fail" }, expired, late],
    [
      "it fails where the standard values are none",
      { on_timeout: "default", default_response: "a" },
      expired,
      late,
    ],
    ["it fails where nobody is waited for and there are no values", {}, pending, late],
    [
      "it fails where a person declines, whatever stands for silence",
      { ...standard, on_timeout: "default" },
      declined,
      declinedIt,
    ],
    [
      "it fails where a person declines, though silence would go on",
      { on_timeout: "continue" },
      declined,
      declinedIt,
    ],
    [
      "it fails with what the person said",
      {},
      { ...declined, message: "not mine" },
      failure("HUMAN_REJECTED", "A person declined to fill in “it”: not mine"),
    ],
    ["it fails where what was given is no form", {}, given(["a"]), declinedIt],
    [
      "it fails where a form came along with a no",
      {},
      { ...given({ name: "a" }), answer: "reject" },
      declinedIt,
    ],
  ])("%s", (_what, config, answer, expected) => {
    const { gave, failed } = ask({ ...one, ...config }, { answer, node: { output_keys: ["name"] } });
    expect(gave ?? failed).toEqual(expected);
  });
});
