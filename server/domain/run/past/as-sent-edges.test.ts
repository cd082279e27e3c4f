import { describe, expect, test } from "vitest";
import { NO_USAGE } from "@/server/domain/agent/outcome";
import { draw } from "@/server/domain/testing/drawing";
import type { ChatMessage, NewEvent, Payloads } from "../events";
import { created, logOf, of, ready } from "../testing";
import { asSent } from "./as-sent";

const at = { agent_id: "ann" };
const begun = (more: object = {}) =>
  of(
    "a",
    "agent_started",
    { role_name: "Writer", output_keys: [], limits: { max_iterations: 3 }, ...more },
    at,
  );
const messageAdded = (content: string, role: "user" | "tool" = "user") =>
  of("a", "message_added", { message: { role, content }, origin: "template" }, at);
const asked = (
  call_id: string,
  message_count: number,
  more: Partial<Payloads["llm_call_started"]> = {},
  who: object = at,
) =>
  of("a", "llm_call_started", { purpose: "task", attempt: 1, message_count, ...more }, { ...who, call_id });
const answered = (call_id: string, content: string, more: object = {}) =>
  of(
    "a",
    "llm_call_completed",
    {
      content,
      finish_reason: "stop",
      provider: "p",
      model: "m",
      simulated: false,
      usage: NO_USAGE,
      cost_usd: 0,
      cost_source: "table",
      latency_ms: 1,
      ttft_ms: 1,
      response_format: "text",
      ...more,
    },
    { ...at, call_id },
  );
const shortened = (more: Partial<Payloads["context_condensed"]>) =>
  of(
    "a",
    "context_condensed",
    { kind: "pruned", from: 0, to: 9, tokens_before: 1, tokens_after: 1, ...more },
    at,
  );
const log = (...events: NewEvent[]) => logOf([created(draw("start > a > end")), ready("a"), ...events]);
const user = (content: string): ChatMessage => ({ role: "user", content });
const assistant = (content: string, more: object = {}): ChatMessage => ({
  role: "assistant",
  content,
  ...more,
});

describe("the prompt of a model call", () => {
  test("a prompt has the conversation so far, the agent's tools and the response format", () => {
    const tool_calls = [{ id: "t", tool_name: "look", args: {} }];
    const events = log(
      begun({ tools: ["look"] }),
      messageAdded("Write."),
      asked("c1", 1, { model: "m" }),
      answered("c1", "I look.", { tool_calls, reasoning: "why" }),
      messageAdded("page", "tool"),
      { ...messageAdded("other"), agent_id: "bob" },
      asked("c2", 3),
    );
    const common = { agent_id: "ann", role_name: "Writer", tools: ["look"], condensed: 0 };
    expect(asSent(events, "c1")).toEqual({
      ...common,
      seq: 5,
      messages: [user("Write.")],
      response_format: "text",
      model: "m",
    });
    expect(asSent(events, "c2")).toEqual({
      ...common,
      seq: 9,
      messages: [
        user("Write."),
        assistant("I look.", { tool_calls, reasoning: "why" }),
        { role: "tool", content: "page" },
      ],
    });
    expect(asSent(events, "c9")).toBeNull();
  });

  test("a prompt starts over when its agent is retried, and is empty if the agent is unknown", () => {
    const events = log(
      begun({ tools: ["look"] }),
      messageAdded("one"),
      begun(),
      messageAdded("two"),
      asked("c", 1),
    );
    expect(asSent(events, "c")).toEqual({
      seq: 7,
      agent_id: "ann",
      role_name: "Writer",
      messages: [user("two")],
      tools: [],
      condensed: 0,
    });
    expect(asSent(log(asked("c", 0)), "c")).toEqual({
      seq: 3,
      agent_id: "ann",
      messages: [],
      tools: [],
      condensed: 0,
    });
  });

  test.each<[string, NewEvent, ChatMessage[]]>([
    ["an answer", answered("c1", "x"), [assistant("x")]],
    ["an answer without tool calls", answered("c1", "x", { tool_calls: [] }), [assistant("x")]],
    ["no refusal", answered("c1", "x", { refusal: "No." }), []],
    ["no truncated answer", answered("c1", "x", { finish_reason: "length" }), []],
    [
      "a truncated answer with tool calls",
      answered("c1", "x", { finish_reason: "length", tool_calls: [{ id: "t", tool_name: "l", args: {} }] }),
      [assistant("x", { tool_calls: [{ id: "t", tool_name: "l", args: {} }] })],
    ],
    ["no verdict of a judge", answered("a#1/guard1", "fine"), []],
    [
      "an answer to a call whose id resembles a guardrail's",
      answered("a#1/guardian", "fine"),
      [assistant("fine")],
    ],
  ])("the next prompt includes %s", (_what, event, messages) => {
    expect(asSent(log(begun(), asked("c1", 0), event, asked("c2", messages.length)), "c2")?.messages).toEqual(
      messages,
    );
  });

  test("a prompt is uncertain if the log has another message count or a judge was called", () => {
    const doubt = (events: NewEvent[], id: string) => {
      const sent = asSent(log(begun(), messageAdded("Write."), ...events), id);
      return [sent?.messages.length, sent?.doubt];
    };
    expect(doubt([asked("c", 3)], "c")).toEqual([1, "The call had 3 messages, but the log has 1."]);
    expect(doubt([asked("c", 1)], "c")).toEqual([1, undefined]);
    expect(doubt([asked("a#1/guard2/1", 1)], "a#1/guard2/1")).toEqual([
      0,
      "A guardrail was checked here: its judge's prompt is not in the log.",
    ]);
  });
});

describe("the prompt of a summary", () => {
  const messages = [messageAdded("one"), messageAdded("two"), messageAdded("three")];
  const summing = asked("s", 2, { purpose: "summary" });
  test("a summary prompt has the messages that were summarized and no tools", () => {
    const events = log(
      begun({ tools: ["look"] }),
      ...messages,
      summing,
      answered("s", "sum"),
      shortened({ kind: "summarised", from: 1, to: 3, summary: "sum" }),
      asked("c", 2),
    );
    const sent = asSent(events, "s");
    expect(sent?.messages.length).toBe(2);
    expect(sent?.messages.at(-1)?.content).toBe("<conversation>\nuser: two\n\nuser: three\n</conversation>");
    expect(sent?.tools).toEqual([]);
    expect(sent?.doubt).toBe("The maximum length of the summary is not in the log; the rest is exact.");
    const after = asSent(events, "c");
    expect(after?.messages.map(({ content }) => content)).toEqual([
      "one",
      "[2 earlier messages were left out. This is their summary.]\nsum",
    ]);
    expect(after?.condensed).toBe(2);
  });

  test("a summary prompt is unknown if the log ends before the summary", () => {
    expect(asSent(log(begun(), ...messages, summing), "s")).toEqual({
      seq: 7,
      agent_id: "ann",
      role_name: "Writer",
      messages: [],
      tools: [],
      condensed: 0,
      doubt: "This call summarized the conversation; the log doesn't say which part.",
    });
  });
});

test("prompts stay uncertain once a conversation was compacted differently than the log shows", () => {
  const long = "x".repeat(4000);
  const events = log(
    begun(),
    messageAdded("one"),
    messageAdded(long, "tool"),
    messageAdded("two"),
    messageAdded("three"),
    shortened({ tokens_before: 1000, tokens_after: 2 }),
    messageAdded("four"),
    asked("c", 5),
  );
  const sent = asSent(events, "c");
  expect(sent?.condensed).toBe(1);
  expect(sent?.messages.length).toBe(5);
  expect(sent?.doubt).toBe(
    "The conversation had already been compacted; the log shows only part of the result.",
  );
});
