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
])("a form with %j has the summary %s", (config, summary) => {
  expect(summaryOf("user_input", config)).toBe(summary);
});

test.each([
  ["its named keys", ["a"], ["a"]],
  ["its fields if it names no keys", [], ["name"]],
])("a form writes %s", (_what, output_keys, written) => {
  const node = nodeOf("user_input", one, { output_keys });
  expect(kind.writes?.(node.config, node)).toEqual(written);
});

test.each([
  [{}, []],
  [{ title: "A {{a}}" }, [{ field: "title", template: "A {{a}}" }]],
  [{ body_template: "B" }, [{ field: "body_template", template: "B" }]],
])("a form with %j lists its templates", (config, templates) => {
  expect(kind.templates?.(nodeOf("user_input", config).config)).toEqual(templates);
});

describe("form diagnostics", () => {
  const fields = (of: object) => ({ schema: { properties: { ok: { type: "string" }, it: of } } });
  const noFields = ["error E_FORM_NO_FIELDS schema"];
  const file = ["error E_FORM_FILE schema"];
  const timeout = ["error E_QUESTION_TIMEOUT on_timeout"];
  test.each<[string, object, string[]]>([
    ["with a field is valid", one, []],
    ["whose schema has no type is valid", fields({ type: "string" }), []],
    ["without a schema is invalid", {}, noFields],
    ["without fields is invalid", { schema: schemaOf() }, noFields],
    [
      "with a non-object schema is invalid",
      { schema: { type: "array", properties: { a: {} } } },
      ["error E_FORM_SCHEMA schema"],
    ],
    ["with an untyped field is valid", fields({}), []],
    ["with a field whose schema is true is valid", { schema: { properties: { it: true } } }, []],
    ["with a date field is valid", fields({ type: "string", format: "date" }), []],
    ["with a file field is invalid", fields({ type: "string", format: "binary" }), file],
    ["with a list of files is invalid", fields({ type: "array", items: { format: "data-url" } }), file],
    ["with a content media type is invalid", fields({ contentMediaType: "image/png" }), file],
    ["with a content encoding is invalid", fields({ contentEncoding: "base64" }), file],
    ["that rejects on timeout is valid", { ...one, on_timeout: "reject", default_response: 3 }, []],
    ["that approves on timeout is invalid", { ...one, on_timeout: "approve" }, timeout],
    ["that defaults on timeout needs default values", { ...one, on_timeout: "default" }, timeout],
    [
      "with a non-object default is invalid",
      { ...one, on_timeout: "default", default_response: ["a"] },
      timeout,
    ],
    ["with matching default values is valid", { ...one, on_timeout: "default", default_response: {} }, []],
    [
      "with mismatching default values is invalid",
      { ...one, on_timeout: "default", default_response: { name: "odd" } },
      timeout,
    ],
    [
      "that is advisory needs default values",
      { ...one, mode: "advisory", default_response: "a" },
      ["error E_FORM_MEANWHILE default_response"],
    ],
    [
      "that is advisory is valid with default values",
      { ...one, mode: "advisory", default_response: { name: "a" } },
      [],
    ],
    ["that is synchronous needs no default values", { ...one, mode: "sync", default_response: "a" }, []],
  ])("a form %s", (_what, config, diagnostics) => {
    const node = nodeOf("user_input", config);
    const misfit = (schema: { type?: unknown }, value: unknown) =>
      JSON.stringify(value).includes("odd") ? `${JSON.stringify(value)} of ${String(schema.type)}` : null;
    const found = kind.validate?.(node.config, node, misfit) ?? [];
    expect(found.map(({ severity, code, field }) => `${severity} ${code} ${field}`)).toEqual(diagnostics);
  });
});

describe("a form's question", () => {
  const base = { kind: "input", why: "The workflow continues with your input." };
  const unnamed = "Fill in “it”";
  test.each<[string, object, World, object]>([
    ["has the node ID in its title if nothing has a name", {}, {}, { title: unnamed, response_schema: {} }],
    [
      "has the node's name in its title and its fields",
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
      "has the default title if its own renders empty",
      { title: "{{a}}" },
      {},
      { title: unnamed, response_schema: {} },
    ],
    [
      "includes the rendered body and the terms",
      { title: "Q", body_template: "It is {{a}}", urgency: "low" },
      { state: { a: 1 } },
      { title: "Q", body: "It is 1", response_schema: {}, urgency: "low" },
    ],
  ])("a form's question %s", (_what, config, world, question) => {
    expect(ask(config, { answer: given({}), ...world }).asked).toEqual([
      ["person", "form", { ...base, ...question }],
    ]);
  });
});

describe("a form's result", () => {
  const form = { name: "Ann", age: 4 };
  test.each<[string, unknown, string[], object]>([
    ["all fields if no keys are named", form, [], form],
    ["for each key the field of that name, or null", form, ["age", "other"], { age: 4, other: null }],
    ["for a single key the field of that name", form, ["age"], { age: 4 }],
    ["for another key the only field", { name: "Ann" }, ["who"], { who: "Ann" }],
    ["for another key the whole form if it has several fields", form, ["who"], { who: form }],
    ["for another key null if nothing was entered", {}, ["who"], { who: null }],
    [
      "for several keys only fields of those names",
      { name: "Ann" },
      ["who", "name"],
      { who: null, name: "Ann" },
    ],
  ])("a form returns %s", (_what, value, output_keys, output) => {
    expect(ask(one, { answer: given(value), node: { output_keys } }).gave).toEqual({ output });
  });
});

describe("an unanswered form", () => {
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
      "returns its default values on timeout",
      { ...standard, on_timeout: "default" },
      expired,
      { output: { name: "standard" } },
    ],
    [
      "returns its default values at once if it's advisory",
      { ...standard, mode: "advisory" },
      pending,
      { output: { name: "standard" } },
    ],
    ["continues without values on timeout", { on_timeout: "continue" }, expired, { output: { name: null } }],
    [
      "continues without values on timeout despite its defaults",
      { ...standard, on_timeout: "continue" },
      expired,
      { output: { name: null } },
    ],
    ["fails on timeout by default", {}, expired, late],
    ["set to fail ignores its default values", { ...standard, on_timeout: "fail" }, expired, late],
    [
      "fails on timeout if its default isn't an object",
      { on_timeout: "default", default_response: "a" },
      expired,
      late,
    ],
    ["fails if no answer is awaited and it has no default values", {}, pending, late],
    [
      "fails if a person declines, despite its default values",
      { ...standard, on_timeout: "default" },
      declined,
      declinedIt,
    ],
    [
      "fails if a person declines, even if it continues on timeout",
      { on_timeout: "continue" },
      declined,
      declinedIt,
    ],
    [
      "fails with the message of the person who declined",
      {},
      { ...declined, message: "not mine" },
      failure("HUMAN_REJECTED", "A person declined to fill in “it”: not mine"),
    ],
    ["fails if the answer isn't an object", {}, given(["a"]), declinedIt],
    ["fails if a rejection includes values", {}, { ...given({ name: "a" }), answer: "reject" }, declinedIt],
  ])("a form %s", (_what, config, answer, expected) => {
    const { gave, failed } = ask({ ...one, ...config }, { answer, node: { output_keys: ["name"] } });
    expect(gave ?? failed).toEqual(expected);
  });
});
