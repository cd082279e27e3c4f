import { describe, expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import type { ChatMessage } from "@/server/domain/run/events";
import { newCallSplitter, toolBlock, withoutFunctions } from "./text-protocol";

/** How a tool with this one parameter is told. */
const describeParameter = (schema: JsonObject, more: JsonObject = {}) => {
  const [line = "", doc] = toolBlock([
    {
      name: "t",
      description: "Does it",
      parameters: { type: "object", properties: { p: schema }, required: ["p"], ...more },
    },
  ])
    .split("\n")
    .slice(1, 3);
  return {
    type: /^- t\(p: (.*)\): Does it$/.exec(line)?.[1],
    doc: doc?.startsWith("    ") ? doc.trim() : null,
  };
};
const nested = (depth: number): JsonObject =>
  depth === 0 ? { type: "string" } : { type: "object", properties: { a: nested(depth - 1) } };

describe("parameter types", () => {
  test.each<[string, JsonObject]>([
    ["str", { type: "string" }],
    ["int", { type: "integer" }],
    ["float", { type: "number" }],
    ["bool", { type: "boolean" }],
    ["null", { type: "null" }],
    ["Any", {}],
    ["Any", { type: "fancy" }],
    ["List", { type: "array" }],
    ["List[int]", { type: "array", items: { type: "integer" } }],
    ["Dict", { type: "object" }],
    ["Dict", { type: "object", properties: {} }],
    ["{a: str, b: int}", { properties: { a: { type: "string" }, b: { type: "integer" } } }],
    ['"x"', { const: "x" }],
    ["0", { const: 0, type: "string" }],
    ['"x" | 1', { enum: ["x", 1] }],
    ["str | int", { type: ["string", "integer"] }],
    ["Optional[str]", { type: ["string", "null"] }],
    ["str | int", { oneOf: [{ type: "string" }, { type: "integer" }, { type: "string" }] }],
    ["Optional[str | int]", { anyOf: [{ type: "string" }, { type: "null" }, { type: "integer" }] }],
    ["null", { anyOf: [{ type: "null" }] }],
    ["{a: {a: {a: Dict}}}", nested(4)],
    ["{a: {a: {a: str}}}", nested(3)],
    [
      "List[List[List[List]]]",
      {
        type: "array",
        items: { type: "array", items: { type: "array", items: { type: "array", items: {} } } },
      },
    ],
    ['str = "now"', { type: "string", default: "now" }],
    ["bool = false", { type: "boolean", default: false }],
  ])("a parameter type is described as %s", (type, schema) => {
    expect(describeParameter(schema).type).toBe(type);
  });

  test("up to 20 alternatives are listed, and recursive alternatives terminate", () => {
    const options = (count: number) => ({ anyOf: Array.from({ length: count }, (_, at) => ({ const: at })) });
    expect(describeParameter(options(20)).type).toBe(Array.from({ length: 20 }, (_, at) => at).join(" | "));
    expect(describeParameter(options(21)).type).toBe("any");
    const round = {
      $defs: { N: { anyOf: [{ type: "string" }, { type: "array", items: { $ref: "#/$defs/N" } }] } },
    };
    expect(describeParameter({ $ref: "#/$defs/N" }, round).type).toBe("str | List[str | List]");
  });

  test("an optional parameter without a default is described as optional", () => {
    const free = { required: [] };
    expect(describeParameter({ type: "string" }, free).type).toBe("Optional[str]");
    expect(describeParameter({ type: "string" }, { required: "p" }).type).toBe("Optional[str]");
    expect(describeParameter({ type: ["string", "null"] }, free).type).toBe("Optional[str]");
    expect(describeParameter({ type: "string", default: null }, free).type).toBe("str = null");
  });

  test("a parameter's description is a single line of at most 300 characters", () => {
    expect(describeParameter({ type: "string", description: " What\n it  is " }).doc).toBe("p: What it is");
    expect(describeParameter({ type: "string" }).doc).toBeNull();
    expect(describeParameter({ type: "string", description: "x".repeat(300) }).doc).toBe(
      `p: ${"x".repeat(300)}`,
    );
    expect(describeParameter({ type: "string", description: "x".repeat(301) }).doc).toBe(
      `p: ${"x".repeat(299)}…`,
    );
  });
});

describe("tool results as user messages", () => {
  const result = (content: string, more: Partial<ChatMessage> = {}): ChatMessage => ({
    role: "tool",
    content,
    ...more,
  });
  test("results are numbered by their calls, or by position if the call is unknown", () => {
    expect(
      withoutFunctions([
        { role: "assistant", content: "", tool_calls: [{ id: "a", tool_name: "look", args: {} }] },
        result("one", { tool_call_id: "z" }),
        result("two", { tool_call_id: "a" }),
        result("three"),
        { role: "user", content: "Continue" },
        result("four", { name: "look" }),
      ]),
    ).toEqual([
      { role: "assistant", content: 'TOOL_CALL: {"tool_name":"look","args":{}}' },
      { role: "user", content: "TOOL_RESULT [1] one\nTOOL_RESULT [1] two\nTOOL_RESULT [3] three" },
      { role: "user", content: "Continue" },
      { role: "user", content: "TOOL_RESULT [1] look: four" },
    ]);
  });
});

describe("streamed text", () => {
  /** What is shown at once and what may be calls, piece by piece. */
  const split = (...pieces: string[]) => {
    const splitter = newCallSplitter();
    return [...pieces.map((piece) => splitter.push(piece)), splitter.end()].map(({ content, calls }) =>
      calls === "" ? content : [content, calls],
    );
  };
  test.each<[string, string[], ReturnType<typeof split>]>([
    ["is shown as it comes", ["Hello ", "there"], ["Hello ", "there", ""]],
    ["is buffered while it may become a call", ["TOO", "LS are"], ["", "TOOLS are", ""]],
    ["is buffered until the end", ["Well\nTOOL_", ""], ["Well\n", "", "TOOL_"]],
    [
      "is a call from the marker on",
      ["Well\nTOOL_", "CALL: {}\nmore"],
      ["Well\n", ["", "TOOL_CALL: {}\nmore"], ""],
    ],
    ["is a call after a list marker", ["- **tool_call**: {}"], [["", "- **tool_call**: {}"], ""]],
    ["is no call in the middle of a line", ["I write TOOL_CALL: {}"], ["I write TOOL_CALL: {}", ""]],
    ["is no call if its line started earlier", ["I ", "TOOL_CALL: {}"], ["I ", "TOOL_CALL: {}", ""]],
    ["is a call from the start of its JSON", [' {"tool_calls": []}'], [["", ' {"tool_calls": []}'], ""]],
    ["is no call with text before its JSON", ['x {"tool_calls": []}'], ['x {"tool_calls": []}', ""]],
    ["is shown again on the next line", ["TOOL\nnext"], ["TOOL\nnext", ""]],
    ["is not buffered indefinitely", [`${" ".repeat(79)}`, " ", "x"], ["", `${" ".repeat(80)}`, "x", ""]],
  ])("streamed text %s", (_what, pieces, shown) => {
    expect(split(...pieces)).toEqual(shown);
  });
});
