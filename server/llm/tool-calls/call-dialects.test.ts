import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { readWrittenCalls } from "./call-dialects";
import { findLeak } from "./call-dialects-leaks";

interface Called {
  name: string;
  args: JsonObject;
}

const TOOLS = ["calc", "search.web", "send-mail"].map((name) => ({
  name,
  description: "",
  parameters: {
    type: "object",
    properties: { text: { type: "string" }, count: { type: "integer" }, list: { type: "array" } },
  },
}));

/** Whatever a tag's body can hold: no tags of its own, and no line break at its ends. */
const plainText = fc
  .array(
    fc.constantFrom("it's", "a, b", "1+1", "x = (y)", '{"a": 1}', "[]", "true", "é 中", "two\nlines", " "),
    {
      maxLength: 4,
    },
  )
  .map((parts) => parts.join(" "))
  .filter((text) => text === text.trim());
const called: fc.Arbitrary<Called> = fc.record({
  name: fc.constantFrom("calc", "search.web", "send-mail"),
  args: fc.record(
    {
      text: plainText,
      count: fc.integer(),
      list: fc.array(fc.oneof(fc.boolean(), fc.constant(null), fc.constantFrom("a", "b c")), {
        maxLength: 3,
      }),
    },
    { requiredKeys: ["count"], noNullPrototype: true },
  ),
});

const python = (value: Json): string =>
  value === null
    ? "None"
    : typeof value === "boolean"
      ? value
        ? "True"
        : "False"
      : Array.isArray(value)
        ? `[${value.map(python).join(", ")}]`
        : JSON.stringify(value);
const inTags = (value: Json) => (typeof value === "string" ? value : JSON.stringify(value));
const pairs = ({ args }: Called, write: (key: string, value: Json) => string) =>
  Object.entries(args).map(([key, value]) => write(key, value));
const like = (name: string, args: string) => (one: Called) => ({ [name]: one.name, [args]: one.args });
const keywords = (one: Called) =>
  `${one.name}(${pairs(one, (key, value) => `${key}=${python(value)}`).join(", ")})`;
const each =
  (write: (one: Called) => string, parting = "\n") =>
  (calls: Called[]) =>
    calls.map(write).join(parting);
const functionTag = (one: Called) =>
  `<function=${one.name}>\n${pairs(one, (key, value) => `<parameter=${key}>\n${inTags(value)}\n</parameter>`).join("\n")}\n</function>`;
const invoke = (one: Called) =>
  `<invoke name="${one.name}">\n${pairs(one, (key, value) => `<parameter name="${key}">${inTags(value)}</parameter>`).join("\n")}\n</invoke>`;

const dialects: Record<string, (calls: Called[]) => string> = {
  "Qwen3-Coder": each((one) => `<tool_call>\n${functionTag(one)}\n</tool_call>`),
  "Qwen3-Coder without its outer tag": each(functionTag),
  Seed: each((one) => `<seed:tool_call>\n${functionTag(one)}\n</seed:tool_call>`),
  "Llama 3, bare": each((one) => JSON.stringify(like("name", "parameters")(one)), "; "),
  "Llama 3, behind its tag": (calls) =>
    `<|python_tag|>${calls.map((one) => JSON.stringify(like("name", "parameters")(one))).join("; ")}`,
  "Llama 3, built-in": (calls) =>
    `<|python_tag|>${calls.map((one) => keywords(one).replace("(", ".call(")).join("; ")}`,
  "Llama 4": (calls) => `<|python_start|>[${calls.map(keywords).join(", ")}]<|python_end|>`,
  "in Python's words": (calls) => `[${calls.map(keywords).join(", ")}]`,
  Gemma: (calls) => `\`\`\`tool_code\n${calls.map(keywords).join("\n")}\n\`\`\``,
  "DeepSeek R1": (calls) =>
    `<｜tool▁calls▁begin｜>${calls.map((one) => `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${one.name}\n\`\`\`json\n${JSON.stringify(one.args)}\n\`\`\`<｜tool▁call▁end｜>`).join("\n")}<｜tool▁calls▁end｜>`,
  "DeepSeek V3.1": (calls) =>
    `<｜tool▁calls▁begin｜>${calls.map((one) => `<｜tool▁call▁begin｜>${one.name}<｜tool▁sep｜>${JSON.stringify(one.args)}<｜tool▁call▁end｜>`).join("")}<｜tool▁calls▁end｜>`,
  GLM: each(
    (one) =>
      `<tool_call>${one.name}\n${pairs(one, (key, value) => `<arg_key>${key}</arg_key>\n<arg_value>${inTags(value)}</arg_value>`).join("\n")}\n</tool_call>`,
  ),
  "Kimi K2": (calls) =>
    `<|tool_calls_section_begin|>${calls.map((one, at) => `<|tool_call_begin|>functions.${one.name}:${at}<|tool_call_argument_begin|>${JSON.stringify(one.args)}<|tool_call_end|>`).join("")}<|tool_calls_section_end|>`,
  "Granite 3": (calls) => `<|tool_call|>${JSON.stringify(calls.map(like("name", "arguments")))}`,
  "Granite 20b": each((one) => `<function_call> ${JSON.stringify(like("name", "arguments")(one))}`),
  xLAM: (calls) => JSON.stringify({ tool_calls: calls.map(like("name", "arguments")) }),
  "xLAM, a list": (calls) => JSON.stringify(calls.map(like("name", "arguments"))),
  "a list in a fence": (calls) =>
    `\`\`\`json\n${JSON.stringify(calls.map(like("name", "arguments")), null, 2)}\n\`\`\``,
  "Phi-4": (calls) => `functools${JSON.stringify(calls.map(like("name", "arguments")))}`,
  "Phi-4 mini": (calls) =>
    `<|tool_call|>${JSON.stringify(calls.map(like("name", "arguments")))}<|/tool_call|>`,
  Hunyuan: (calls) => `<tool_calls>${JSON.stringify(calls.map(like("name", "arguments")))}</tool_calls>`,
  MiniMax: (calls) => `<minimax:tool_call>\n${calls.map(invoke).join("\n")}\n</minimax:tool_call>`,
  "gpt-oss": each(
    (one) =>
      `<|start|>assistant<|channel|>commentary to=functions.${one.name} <|constrain|>json<|message|>${JSON.stringify(one.args)}<|call|>`,
  ),
};
/** These stand for a whole answer: anything beside them makes them text. */
const BARE = ["Llama 3, bare", "in Python's words", "Gemma", "xLAM", "xLAM, a list", "a list in a fence"];
const read = (text: string, isCut = false) => readWrittenCalls(text, { tools: TOOLS, isCut });

describe.each(Object.entries(dialects))("tool calls in the format of %s", (name, write) => {
  test("calls are parsed exactly, with the text before them", () => {
    fc.assert(
      fc.property(fc.array(called, { minLength: 1, maxLength: 3 }), (calls) => {
        const expected = calls.map(({ name: tool_name, args }) => ({ tool_name, args }));
        const text = write(calls);
        expect(read(text)).toEqual({ content: "", calls: expected });
        if (!BARE.includes(name))
          expect(read(`I will look it up.\n\n${text}`)).toEqual({
            content: "I will look it up.",
            calls: expected,
          });
      }),
      { numRuns: 60 },
    );
  });
});

/** Bare forms have no token: a cut one is a cut answer, which is never a result either. */
const behindToken = Object.entries(dialects).filter(([name]) => !BARE.includes(name));

describe("truncated answer with two calls", () => {
  const whole = { tool_name: "calc", args: { text: "first", count: 1 } };
  const calls = [
    { name: "calc", args: { text: "first", count: 1 } },
    { name: "search.web", args: { text: "second and long", count: 2 } },
  ];
  const invalidCall = (tool_name: string) => ({
    tool_name,
    args: {},
    fault: expect.stringMatching(
      /^Your tool call could not be parsed: TRUNCATED, it ends in the middle near /,
    ) as string,
  });

  test.each(behindToken)(
    "in the format of %s, a truncated second call is reported and the first is kept",
    (_name, write) => {
      const text = write(calls);
      const { content, calls: found } = read(text.slice(0, text.indexOf(" and long")), true);
      expect({ content, calls: found }).toEqual({
        content: "",
        calls: [whole, invalidCall(expect.stringMatching(/^(?:search\.web)?$/) as string)],
      });
    },
  );
  test.each(behindToken)("in the format of %s, a cut after the last call loses nothing", (_name, write) => {
    expect(read(write(calls), true).calls).toEqual([
      whole,
      { tool_name: "search.web", args: { text: "second and long", count: 2 } },
    ]);
  });
  test("a call with a truncated name is reported without a name", () => {
    const text = dialects.MiniMax!(calls);
    expect(read(text.slice(0, text.indexOf(".web")), true).calls).toEqual([whole, invalidCall("")]);
  });
  test.each(["Qwen3-Coder", "DeepSeek V3.1", "GLM", "Kimi K2", "MiniMax", "gpt-oss"])(
    "in the format of %s, a truncated call is reported with its name",
    (name) => {
      const text = dialects[name]!(calls);
      expect(read(text.slice(0, text.indexOf(" and long")), true).calls[1]!.tool_name).toBe("search.web");
    },
  );
  test("an end token inside a truncated argument doesn't close the call", () => {
    const text = "<function=calc>\n<parameter=text>\nwrite </tool_call> and then";
    expect(read(text, true).calls).toEqual([invalidCall("calc")]);
  });
});

test("an answer that only resembles a call stays an answer", () => {
  for (const text of [
    '{"name": "nobody", "parameters": {}}',
    '{"name": "calc"}',
    '{"name": "calc", "parameters": {}, "score": 1}',
    '[{"name": "calc", "arguments": {}}, {"name": "Ann"}]',
    "[calc]",
    "calc(x=1) is what I would use.",
    "[nobody(x=1)]",
    'Answer: {"name": "calc", "parameters": {}}',
    "The tag <tool_call> is what other models write.",
    "Use <function=calc> for that.",
    "[1, 2, 3]",
    "",
  ])
    expect(read(text)).toEqual({ content: text, calls: [] });
});

test("unparsable text after a call-only token is a fault and never an answer", () => {
  for (const text of [
    "<|python_tag|>import os; os.system('ls')",
    "<function_call> calc please",
    "<｜tool▁calls▁begin｜>calc<｜tool▁calls▁end｜>",
    "<|tool_call|>[{]",
    "<tool_call>\n<function=calc",
  ]) {
    const { calls } = read(text.startsWith("<tool_call>") ? `${text}>\n<parameter=a>\n1` : text, true);
    expect(calls).toHaveLength(1);
    expect(calls[0]!.fault).toMatch(/could not be parsed/);
  }
});

test("Python expressions in arguments are not evaluated", () => {
  expect(read("[calc(count=str(1))]").calls).toEqual([]);
  expect(read("<|python_tag|>calc.call(count=str(1))").calls[0]!.fault).toMatch(/could not be parsed/);
});

test("positional arguments follow the order of the schema", () => {
  expect(read('[calc("a", 2)]').calls).toEqual([{ tool_name: "calc", args: { text: "a", count: 2 } }]);
});

test("calls beyond the limit per message are reported, not dropped silently", () => {
  const one = { name: "calc", arguments: { count: 1 } };
  for (const text of [
    JSON.stringify(Array.from({ length: 70 }, () => one)),
    Array.from({ length: 70 }, () => `TOOL_CALL: ${JSON.stringify(one)}`).join("\n"),
  ]) {
    const { calls } = read(text);
    expect(calls).toHaveLength(65);
    expect(calls.at(-1)!.fault).toContain("more than 64 calls");
  }
});

test("a __proto__ parameter is dropped and pollutes no prototype", () => {
  const text =
    '<function=calc><parameter=__proto__>{"x": 1}</parameter><parameter=count>1</parameter></function>';
  expect(read(text).calls).toEqual([{ tool_name: "calc", args: { count: 1 } }]);
  expect(({} as Record<string, unknown>).x).toBeUndefined();
});

describe("calls to tools that aren't offered", () => {
  const nobody = { tool_name: "nobody", args: { x: 1 } };
  test.each([
    '{"tool_calls": [{"name": "nobody", "arguments": {"x": 1}}]}',
    '{"tool_calls": [{"id": "a", "type": "function", "function": {"name": "nobody", "arguments": "{\\"x\\": 1}"}}]}',
    '{"type": "function", "name": "nobody", "parameters": {"x": 1}}',
    '{"type": "function", "function": {"name": "nobody", "arguments": {"x": 1}}}',
    '[{"type": "function", "function": {"name": "nobody", "arguments": {"x": 1}}}]',
  ])("unambiguous call syntax for an unknown tool is read as a call: %s", (text) => {
    expect(read(text)).toEqual({ content: "", calls: [nobody] });
  });
  test.each([
    '{"name": "nobody", "arguments": {"x": 1}}',
    '{"name": "Ann", "type": "function", "age": 3}',
    '{"type": "function", "name": "add", "params": ["a", "b"]}',
    '{"type": "person", "name": "Ann", "parameters": {}}',
    '{"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}',
    '{"type": "function", "function": {"name": "add", "description": "Adds", "parameters": {}}}',
    '{"tool_calls": 3}',
    '{"tool_calls": []}',
    '{"tool_calls": [{"name": "nobody", "count": 3}], "score": 1}',
    '```json\n{"tool_calls": [{"name": "nobody", "arguments": {}}]}\n```',
    'As in {"tool_calls": [{"name": "nobody", "arguments": {}}]}',
  ])("ambiguous JSON with an unknown tool name stays text: %s", (text) => {
    expect(read(text)).toEqual({ content: text, calls: [] });
  });
});

describe("answers without offered tools", () => {
  const calls = [{ name: "calc", args: { text: "x", count: 1 } }];
  const certain = Object.entries(dialects).filter(([name]) => !BARE.includes(name) || name === "xLAM");

  test("calls are not parsed if no tools are offered", () => {
    const text = dialects.xLAM!(calls);
    expect(readWrittenCalls(text)).toEqual({ content: text, calls: [] });
  });
  test.each(certain)("a leaked call in the format of %s is detected with its tool name", (name, write) => {
    expect(findLeak(write(calls))).toEqual({ names: ["calc"], isJson: name === "xLAM" });
    if (name !== "xLAM")
      expect(findLeak(`Let me see.\n\n${write(calls)}`)).toEqual({ names: ["calc"], isJson: false });
  });
  test("unparsable text after a call-only token is detected as a leak", () => {
    expect(findLeak("<|python_tag|>import os")).toEqual({ names: [], isJson: false });
    expect(findLeak('[TOOL_CALLS][{"name": "calc", "arguments": {}}]')).toEqual({
      names: ["calc"],
      isJson: false,
    });
  });
  test.each([
    "",
    "Calls stand in <tool_call> and </tool_call>.",
    "<function_call> is the tag of Granite.",
    "<tool_call> is the tag of Qwen.",
    "functools[0] is the first.",
    'Qwen writes:\n\n```\n<tool_call>\n{"name": "calc", "arguments": {}}\n</tool_call>\n```\n\nThat is all.',
    '{"name": "calc", "arguments": {}}',
    "[calc(x=1)]",
    "TOOL_CALL lines are read here.",
  ])("an answer that only mentions calls is not a leak: %s", (text) => {
    expect(findLeak(text)).toBeNull();
  });
});
