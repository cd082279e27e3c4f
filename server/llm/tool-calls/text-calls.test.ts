import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "@/server/domain/base/values";
import {
  asArguments,
  callErrorText,
  invalidCall,
  MAX_CALLS,
  type ReadCall,
  readTextCalls,
  TOO_MANY,
} from "./text-calls";

const lookupCall = (n: number): string => `TOOL_CALL: {"tool_name": "look", "args": {"n": ${n}}}`;
const looked = (n: number): ReadCall => ({ tool_name: "look", args: { n } });
const again = 'Send it again as: TOOL_CALL: {"tool_name": "...", "args": {...}}';
const unreadable = (why: string, near: string, tool_name = ""): ReadCall => ({
  tool_name,
  args: {},
  fault: `Your tool call could not be parsed: ${why} near "${near}". ${again}`,
});

describe("text around calls", () => {
  test.each<[string, string, string, ReadCall[]]>([
    ["before a call", `I look.\n${lookupCall(1)}`, "I look.", [looked(1)]],
    ["but not after the last call", `${lookupCall(1)}\nThat should do.`, "", [looked(1)]],
    [
      "between two calls",
      `First.\n${lookupCall(1)}\nThen.\n${lookupCall(2)}`,
      "First.\n\nThen.",
      [looked(1), looked(2)],
    ],
    [
      "without the blank lines that calls leave",
      `A.\n\n\n${lookupCall(1)}\n\n\nB.\n${lookupCall(2)}`,
      "A.\n\nB.",
      [looked(1), looked(2)],
    ],
    [
      "without the fence around a call",
      `A.\n\`\`\`json\n${lookupCall(1)}\n\`\`\`\nB.\n${lookupCall(2)}`,
      "A.\n\nB.",
      [looked(1), looked(2)],
    ],
    [
      "without the model's reasoning",
      `<thinking>${lookupCall(9)}</thinking>So.\n${lookupCall(1)}`,
      "So.",
      [looked(1)],
    ],
    [
      "without reasoning in the middle",
      `${lookupCall(1)}\n<think>\n${lookupCall(9)}\n</think>\n${lookupCall(2)}`,
      "",
      [looked(1), looked(2)],
    ],
    [
      "with a call after an unclosed reasoning tag",
      `Hm.\n<think>\n${lookupCall(1)}`,
      "Hm.\n<think>",
      [looked(1)],
    ],
    [
      "without made-up results",
      `${lookupCall(1)}\n- TOOL_RESULT [1] look (200): x\n${lookupCall(2)}`,
      "",
      [looked(1)],
    ],
  ])("text is kept %s", (_what, text, content, calls) => {
    expect(readTextCalls(text)).toEqual({ content, calls });
  });

  test("several calls on the same line are all parsed", () => {
    const hermes = (n: number) => `<tool_call>{"name": "look", "arguments": {"n": ${n}}}</tool_call>`;
    expect(readTextCalls(`${hermes(1)} ${hermes(2)}`).calls).toEqual([looked(1), looked(2)]);
    expect(readTextCalls(`${hermes(1)}[TOOL_CALLS][{"name": "look", "arguments": {"n": 2}}]`).calls).toEqual([
      looked(1),
      looked(2),
    ]);
    // A sentence between them makes of the second a mention.
    expect(readTextCalls(`${hermes(1)} and ${hermes(2)}`).calls).toEqual([looked(1)]);
  });
});

test("calls up to the limit per message are read, and the rest become a single fault", () => {
  const lines = (count: number) => Array.from({ length: count }, (_, at) => lookupCall(at)).join("\n");
  const { calls } = readTextCalls(lines(MAX_CALLS));
  expect([calls.length, calls.every((call) => call.fault === undefined)]).toEqual([MAX_CALLS, true]);
  for (const count of [MAX_CALLS + 1, MAX_CALLS + 5]) {
    const { calls: more } = readTextCalls(lines(count));
    expect([more.length, more.slice(0, MAX_CALLS)]).toEqual([MAX_CALLS + 1, calls]);
    expect(more.at(-1)!.fault).toContain(TOO_MANY);
  }
});

describe("call marker", () => {
  test.each<[string, string, ReadCall[]]>([
    ["with nothing after it is ignored", "TOOL_CALL:", []],
    [
      "may be followed by JSON on the next line",
      'TOOL_CALL:\n{"tool_name": "look", "args": {"n": 1}}',
      [looked(1)],
    ],
    [
      "before a call that isn't JSON is a fault",
      "TOOL_CALL: look(1)\nWell.",
      [unreadable("no JSON follows the marker", "look(1)")],
    ],
    [
      "before a name and a brace is a fault",
      "TOOL_CALL: look {n: 1}",
      [unreadable("no JSON follows the marker", "look {n: 1}")],
    ],
    ["without a colon or JSON is a mention", "TOOL_CALL look(1)", []],
    ["before other text is a mention", "TOOL_CALL: is what one writes", []],
    [
      "alone on its line before other text is a fault",
      "TOOL_CALL:\nlook(1)",
      [unreadable("no JSON follows the marker", "look(1)")],
    ],
    ["is case-insensitive", 'Tool_Call: {"tool_name": "look", "args": {"n": 1}}', [looked(1)]],
    ["of Mistral may precede a list", '[TOOL_CALLS] [{"name": "look", "arguments": {"n": 1}}]', [looked(1)]],
    ["of Mistral may have a name", '[TOOL_CALLS]look{"n": 1}', [looked(1)]],
    [
      "of Mistral with a name uses the names of its list",
      '[TOOL_CALLS]see[ARGS]{"n": 1}',
      [{ tool_name: "see", args: { n: 1 } }],
    ],
    ["of Hermes without JSON is a mention", "<tool_call>look</tool_call>", []],
  ])("a marker %s", (_what, text, calls) => {
    expect(readTextCalls(text).calls).toEqual(calls);
  });

  test("a marker at a truncated end counts as a truncated call", () => {
    expect(readTextCalls("Well.\nTOOL_CALL:", { isCut: true })).toEqual({
      content: "Well.",
      calls: [unreadable("TRUNCATED, it ends in the middle", "")],
    });
  });
});

describe("unclosed brackets", () => {
  test.each<[string, string, ReadCall[]]>([
    [
      "ends with its line",
      'TOOL_CALL: {"tool_name": "look", "args": {"n": 1}\nWell.',
      [{ ...looked(1), repaired: true }],
    ],
    [
      "ends at its last bracket",
      'TOOL_CALL: {"tool_name": "look",\n"args": {"n": 1}\nso that is that',
      [{ ...looked(1), repaired: true }],
    ],
    [
      "ends before the next marker",
      `TOOL_CALL: {"tool_name": "look",\n"args": {"n": 1}\n${lookupCall(2)}`,
      [{ ...looked(1), repaired: true }, looked(2)],
    ],
    [
      "ends before a made-up result",
      'TOOL_CALL: {"tool_name": "look",\n"args": {"n": 1}\nTOOL_RESULT [1] x',
      [{ ...looked(1), repaired: true }],
    ],
    [
      "ends at its fence",
      'TOOL_CALL:\n```\n{"tool_name": "look",\n"args": {"n": 1}\n```\nWell.',
      [{ ...looked(1), repaired: true }],
    ],
    [
      "ends at its tag",
      '<tool_call>{"name": "look",\n"arguments": {"n": 1}\n</tool_call>',
      [{ ...looked(1), repaired: true }],
    ],
    [
      "and an unclosed string is not completed",
      'TOOL_CALL: {"tool_name": "look", "args": {"n": "half',
      [unreadable("a string in it never ends", '{"tool_name": "look", "args": {"n": "hal', "look")],
    ],
    [
      "that can't be closed is reported",
      'TOOL_CALL: {"tool_name": "look", "args": {"n": [1, ,, {',
      [unreadable("its brackets do not match", '{"tool_name": "look", "args": {"n": [1, ', "look")],
    ],
  ])("a call with unclosed brackets %s", (_what, text, calls) => {
    expect(readTextCalls(text).calls).toEqual(calls);
  });

  test("an unclosed call that is too long isn't repaired", () => {
    const { calls } = readTextCalls(
      `TOOL_CALL: {"tool_name": "look", "args": {"n": "${"x".repeat(1_000_001)}"`,
    );
    expect(calls).toEqual([unreadable("it is too long", '{"tool_name": "look", "args": {"n": "xxx', "look")]);
  });
});

describe("call formats", () => {
  const read = (value: Json, properties?: JsonObject) =>
    readTextCalls(`TOOL_CALL: ${JSON.stringify(value)}`, {
      tools: properties
        ? [{ name: "look", description: "", parameters: { type: "object", properties } }]
        : [],
    }).calls;
  test.each<[string, Json, ReadCall[]]>([
    ["a wrapper with a list", { tool_calls: [{ name: "look", args: { n: 1 } }] }, [looked(1)]],
    ["a wrapper with a single call", { tool_call: { name: "look", args: { n: 1 } } }, [looked(1)]],
    ["nested lists", [[{ name: "look", args: { n: 1 } }]], [looked(1)]],
    [
      "a tool with an argument named like the wrapper",
      { name: "look", tool_calls: [1] },
      [{ tool_name: "look", args: { tool_calls: [1] } }],
    ],
    [
      "a wrapper without a call is itself a call",
      { tool_calls: 3 },
      [unreadable("it has no tool_name", '{"tool_calls":3}')],
    ],
    ["a nested function", { id: "1", function: { name: "look", arguments: '{"n": 1}' } }, [looked(1)]],
    ["a function type", { type: "function", name: "look", parameters: { n: 1 } }, [looked(1)]],
    [
      "another type is read as an argument",
      { name: "look", type: "owl" },
      [{ tool_name: "look", args: { type: "owl" } }],
    ],
    ["a name surrounded by spaces", { tool_name: " look ", args: { n: 1 } }, [looked(1)]],
    ["an empty name before another name", { tool_name: " ", name: "look", args: { n: 1 } }, [looked(1)]],
    [
      "an invalid name",
      { tool_name: 7, args: {} },
      [unreadable("it has no tool_name", '{"tool_name":7,"args":{}}')],
    ],
    [
      "non-object arguments under an ambiguous key",
      { name: "look", input: [1] },
      [{ tool_name: "look", args: { input: [1] } }],
    ],
    [
      "non-object arguments under an unambiguous key",
      { name: "look", arguments: 5 },
      [unreadable("its args are not an object", '{"name":"look","arguments":5}', "look")],
    ],
    ["null in a list", [null], [unreadable("a call is an object with tool_name and args", "[null]")]],
    ["a text in a list", ["look"], [unreadable("a call is an object with tool_name and args", '["look"]')]],
  ])("the call format is recognized: %s", (_what, value, calls) => {
    expect(read(value)).toEqual(calls);
  });

  test("a parameter named like the argument wrapper is recognized by its siblings", () => {
    const args = (call: JsonObject, properties: JsonObject) =>
      read({ tool_name: "look", ...call }, properties)[0]!.args;
    const both = { input: {}, n: {} };
    expect(args({ input: "x", n: 1 }, both)).toEqual({ input: "x", n: 1 });
    // Nothing beside it is the tool's own: it may be the wrapping.
    expect(args({ input: { n: 1 }, other: 2 }, both)).toEqual({ n: 1 });
    expect(args({ input: { n: 1 } }, both)).toEqual({ n: 1 });
    expect(args({ input: { m: 1 } }, both)).toEqual({ m: 1 });
    // The only parameter is meant, unless what it holds is called like it.
    expect(args({ input: { m: 1 } }, { input: {} })).toEqual({ input: { m: 1 } });
    expect(args({ input: {} }, { input: {} })).toEqual({ input: {} });
    expect(args({ input: null }, { input: {} })).toEqual({ input: null });
    expect(args({ input: [{ input: 1 }] }, { input: {} })).toEqual({ input: [{ input: 1 }] });
    expect(args({ input: { input: 1 } }, { input: {} })).toEqual({ input: 1 });
  });
});

test.each<[Json, ReturnType<typeof asArguments>]>([
  [null, { args: {} }],
  ["", { args: {} }],
  ["  ", { args: {} }],
  [[], { args: {} }],
  [{ a: 1 }, { args: { a: 1 } }],
  ['{"a": 1}', { args: { a: 1 } }],
  ["{'a': 1}", { args: { a: 1 }, repaired: true }],
  ['"{\\"a\\": 1}"', { args: { a: 1 } }],
  [`"{'a': 1}"`, { args: { a: 1 }, repaired: true }],
  ["null", { args: {} }],
  ["None", undefined],
  ["nothing", undefined],
  ["[1]", undefined],
  ['"text"', undefined],
  ["text", undefined],
  [7, undefined],
  [true, undefined],
  [[1], undefined],
])("arguments given as %j are parsed", (value, expected) => {
  expect(asArguments(value)).toEqual(expected);
});

describe("messages about unparsable calls", () => {
  test("the error shows the start of the call, or its end if truncated", () => {
    const source = `{"a":\n  ${"x".repeat(50)} end`;
    expect(callErrorText("why", source, "Again.")).toBe(
      `Your tool call could not be parsed: why near "{"a": ${"x".repeat(34)}". Again.`,
    );
    expect(callErrorText("TRUNCATED, it ends in the middle", source, "Again.")).toBe(
      `Your tool call could not be parsed: TRUNCATED, it ends in the middle near "${"x".repeat(36)} end". Again.`,
    );
  });
  test.each([
    ['{"tool_name": "look", "args"', "look"],
    ["{'name': 'mcp:a/b.c-d'", "mcp:a/b.c-d"],
    ['{function : "f"', "f"],
    ['{"named": "look"', ""],
    ['{"tool": look', ""],
  ])("a fault names the tool found in %s", (source, tool_name) => {
    expect(invalidCall("why", source)).toMatchObject({ tool_name, args: {} });
  });
});
