import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { JsonSchema } from "@/server/domain/base/values";
import { tooSlow } from "@/server/testing/growth";
import { sized } from "@/server/testing/thorough";
import { adapt } from "../capabilities/adapt";
import type { ModelRequest } from "../model";
import { newOfflineModel } from "../offline";
import { classifyServerError, refusalInside, refusalOf } from "../openai/errors";
import { Collector, finished } from "../openai/openai-answer";
import { serverEvents } from "../openai/sse";
import { offlineProvider } from "../testing";
import { readWrittenCalls } from "./call-dialects";
import { findLeak } from "./call-dialects-leaks";
import { parseOutput } from "./structured-output";
import { asArguments, readTextCalls } from "./text-calls";
import { splitUnopened } from "./think";

// Whatever a model or its server writes, reading it takes time in proportion to its length: a long answer must not
// stop the server.

const PREFIXES = [
  "",
  "TOOL_CALL: {",
  'TOOL_CALL: {"tool_name": "search", "args": {"query": "',
  "<tool_call>{",
  "<tool_call>search",
  "[TOOL_CALLS][",
  "[TOOL_CALLS]search",
  "<function=search>",
  '<invoke name="search">',
  "<|python_tag|>",
  "<|python_tag|>[",
  "functools[",
  "<｜tool▁call▁begin｜>search",
  "<|tool_call_begin|>search",
  "<|channel|>commentary to=search",
  "[search(query=",
  '{"answer": ',
  '{"answer": "',
  "{'answer': '",
  '{"n": "1',
  "[",
  "```json\n",
  "```\n{",
  "<think>",
  "x\n<think>",
  "Please try again in ",
  "messages.0",
  "<title",
];
const UNITS = [
  ..." \n\t\r{}[]()\"'\\`<>,;:=a1-_*#é ",
  "\n\t",
  " \n",
  "{}",
  "{} ",
  "[]",
  "[],",
  "{},",
  "()",
  '",',
  '"",',
  '"a":',
  '{"a":',
  "',",
  "''",
  '\\"',
  '"\\',
  "```",
  "```\n",
  "```json\n{\n```\n",
  "~~~\n",
  "</",
  "<a>",
  "<think>",
  "<think>\n",
  "</think>",
  "<tool_call>",
  "<tool_call>a<arg_key>",
  "<arg_key>a</arg_key><arg_value>",
  "</tool_call>",
  "\n<tool_call>{",
  "[TOOL_CALLS]",
  "\nTOOL_CALL: {",
  "\nTOOL_CALL: {}",
  "\nTOOL_CALL:",
  "\nTOOL_RESULT",
  "<function=a>",
  "<parameter=a>",
  '<invoke name="a">',
  '<parameter name="a"',
  '<parameter name="a">',
  "<｜tool▁call▁begin｜>a",
  "<|tool_call_begin|>a<|tool_call_argument_begin|>",
  " to=a",
  " to=a<|message|>",
  "<|e",
  "<|",
  "a ",
  "a=",
  "a=1,",
  "a(",
  "a(),",
  "a:1",
  "1 ",
  "1,",
  "1.",
  "/*",
  "/**/",
  "//\n",
  "null,",
  "None,",
  "true",
  "\\u",
  "<title",
  "<h1",
  "messages.0",
  "retry 1s",
  "$1 ",
  "<crew_status>\n",
  "[[offline: text ",
];
const ENDINGS = ["", "x", "}", '"', "]]"];

const tools = [
  {
    name: "search",
    description: "",
    parameters: { type: "object", properties: { query: { type: "string" }, top: { type: "number" } } },
  },
];
const schema: JsonSchema = {
  type: "object",
  properties: { answer: { type: "string" }, n: { type: "number" }, of: { enum: ["a", "b"] } },
  required: ["answer"],
};
const callee = { provider: "Testing", base_url: "http://127.0.0.1", model: "m", key: "sk-test-0123456789" };
const signal = new AbortController().signal;
const request = (more: Partial<ModelRequest>): ModelRequest => ({
  llm_config: {},
  messages: [{ role: "user", content: "Do it." }],
  call_id: "call",
  run_id: "run",
  ...more,
});

/** Reads an answer as it comes, in pieces of this size. */
function streamed(text: string, size: number, deltaOf: (piece: string) => unknown, hasTools: boolean) {
  const collector = new Collector({ signal, delta: () => undefined }, callee, hasTools);
  for (let at = 0; at < text.length; at += size)
    collector.add({ choices: [{ index: 0, delta: deltaOf(text.slice(at, at + size)) }] });
  collector.add({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
  const protocol = hasTools ? "native" : null;
  try {
    finished(
      collector.end(),
      request(hasTools ? { tools } : {}),
      { isDone: true, rung: null, protocol, provider: offlineProvider },
      callee,
    );
  } catch {
    // Not an answer, which it need not be.
  }
}

async function events(text: string, size: number) {
  const bytes = Buffer.from(text);
  for await (const _event of serverEvents(
    (async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    })(),
  ));
}

const offline = newOfflineModel({ speed: 0 });

/** Everything that reads what a model or its server wrote, with the share of the usual size that it gets. */
const READERS: Record<string, readonly [read: (text: string) => unknown, share?: number]> = {
  "calls in text": [(text) => readTextCalls(text, { tools })],
  "calls in text that was cut": [(text) => readTextCalls(text, { tools, isCut: true })],
  "calls in any dialect": [(text) => readWrittenCalls(text, { tools })],
  "calls in any dialect that were cut": [(text) => readWrittenCalls(text, { tools, isCut: true })],
  "calls of tools that were not offered": [findLeak],
  "arguments of a call": [asArguments],
  "a value of a schema": [(text) => parseOutput(text, schema)],
  "a value in a list": [
    (text) => parseOutput(text, { type: "object", properties: { answer: { type: "array" } } }),
  ],
  "thoughts without a beginning": [splitUnopened],
  "an answer in pieces": [(text) => streamed(text, 7, (content) => ({ content }), false), 1 / 4],
  "an answer in pieces, with tools": [(text) => streamed(text, 7, (content) => ({ content }), true), 1 / 4],
  "a call in pieces": [
    (text) =>
      streamed(
        text,
        7,
        (piece) => ({ tool_calls: [{ index: 0, function: { name: "search", arguments: piece } }] }),
        true,
      ),
    1 / 4,
  ],
  "many calls in pieces": [
    (text) =>
      streamed(text, 7, (piece) => ({ tool_calls: [{ function: { name: piece, arguments: "{}" } }] }), true),
    1 / 4,
  ],
  "events in pieces": [(text) => events(text, 7), 1 / 4],
  "a refusal": [
    (text) => {
      const refusal = refusalOf(400, new Headers(), text);
      classifyServerError(refusal, callee);
      adapt(
        refusal,
        {},
        { rung: "strict", hasFunctions: true, mayDropFunctions: true, hasEffort: true, mayChangeApi: true },
      );
    },
  ],
  "a refusal in an answer": [
    (text) => classifyServerError(refusalInside({ error: { message: text } }), callee),
  ],
  "the demo model's prompt": [
    (text) =>
      offline(
        new Request("http://offline/v1/chat/completions", {
          method: "POST",
          body: JSON.stringify({ model: "m", messages: [{ role: "user", content: text }] }),
        }),
      ).then((response) => response.text()),
    1 / 4,
  ],
};

/** Reproducible, and different for each reader. */
const numberOf = (seed: string): number => createHash("sha256").update(seed).digest().readUInt32LE(0);

test.each(Object.entries(READERS))(
  "reading %s takes time linear in its length",
  async (name, [read, share = 1]) => {
    const slow: string[] = [];
    const size = sized(32_768, 131_072) * share;
    for (const unit of UNITS)
      for (const prefix of PREFIXES)
        for (const ending of ENDINGS) {
          const shape = JSON.stringify([prefix, unit, ending]);
          const isUsual = (prefix === "" || unit === " ") && ending === "x";
          const every = isUsual ? sized((unit === " " ? 4 : 10) / share, 1) : sized(1000, 10);
          if (numberOf(name + shape) % every !== 0) continue;
          const textOf = (length: number) => prefix + unit.repeat(Math.ceil(length / unit.length)) + ending;
          const found = await tooSlow(read, textOf, size);
          if (found) slow.push(`${shape} ${found}`);
        }
    expect(slow).toEqual([]);
  },
  sized(60_000, 900_000),
);
