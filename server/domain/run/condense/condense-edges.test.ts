import { describe, expect, test } from "vitest";
import type { ChatMessage } from "../events";
import {
  applyCondensation,
  type CondenseLimits,
  cutBefore,
  estimateTokens,
  estimateTranscript,
  isTooLong,
  PRUNED_LENGTH,
  planCondensation,
  summaryPrompt,
} from "./condense";

const message = (role: ChatMessage["role"], content: string): ChatMessage => ({ role, content });
const call = (...ids: string[]): ChatMessage => ({
  role: "assistant",
  content: "",
  tool_calls: ids.map((id) => ({ id, tool_name: "look", args: {} })),
});
const answer = (id: string | undefined, length: number): ChatMessage => ({
  role: "tool",
  content: "r".repeat(length),
  ...(id === undefined ? {} : { tool_call_id: id }),
});
const limits: CondenseLimits = {
  context_window: 1000,
  condense_at: 0.75,
  target: 0.5,
  keep_first: 0,
  max_messages: 6,
};

test("a token estimate is a quarter of the bytes plus a few per message", () => {
  expect(estimateTokens("")).toBe(0);
  expect(estimateTokens("abcd")).toBe(1);
  expect(estimateTokens("abcde")).toBe(2);
  expect(estimateTokens("ää")).toBe(1);
  expect(estimateTokens("abcd", 1.5)).toBe(2);
  expect(estimateTranscript([])).toBe(0);
  expect(estimateTranscript([message("user", "abcd"), message("user", "")])).toBe(9);
  // look{} is six bytes.
  expect(estimateTranscript([{ ...call("a", "b"), content: "ab" }])).toBe(4 + Math.ceil((2 + 12) / 4));
  expect(estimateTranscript([message("user", "abcd")], 2)).toBe(6);
});

test("a transcript is too long only above its limits", () => {
  const messages = (count: number, length: number) =>
    Array.from({ length: count }, () => message("user", "x".repeat(length)));
  const at = { ...limits, context_window: 100 };
  expect(isTooLong(messages(6, 4), limits)).toBe(false);
  expect(isTooLong(messages(7, 4), limits)).toBe(true);
  expect(isTooLong(messages(1, 71 * 4), at)).toBe(false);
  expect(isTooLong(messages(1, 71 * 4 + 1), at)).toBe(true);
  expect(isTooLong(messages(1, 71 * 4), { ...at, ratio: 1.1 })).toBe(true);
});

describe("tool results to truncate", () => {
  const pieces = [call("a"), answer("a", 3000), call("b"), answer("b", 3000), call("c"), answer("c", 3000)];
  test("only long tool results of older pieces are truncated", () => {
    expect(cutBefore(pieces)).toEqual([1]);
    expect(cutBefore(pieces, 1)).toEqual([1, 3]);
    expect(cutBefore(pieces, 0)).toEqual([1, 3, 5]);
    expect(cutBefore(pieces, 3)).toEqual([]);
    expect(cutBefore([])).toEqual([]);
    const short = [
      call("a"),
      answer("a", PRUNED_LENGTH),
      message("user", "x".repeat(3000)),
      message("user", "x"),
      message("user", "y"),
    ];
    expect(cutBefore(short)).toEqual([]);
  });

  test("a tool result stays with its call, or with the message before it if it has none", () => {
    const between = [
      call("a"),
      message("user", "wait"),
      message("user", "still"),
      answer("a", 3000),
      message("user", "x"),
      message("user", "y"),
    ];
    expect([cutBefore(between, 2), cutBefore(between, 3)]).toEqual([[3], []]);
    const stray = [message("user", "x"), answer(undefined, 3000), message("user", "y"), message("user", "z")];
    expect([cutBefore(stray, 2), cutBefore(stray, 3)]).toEqual([[1], []]);
    const leading = [answer(undefined, 3000), message("user", "y"), message("user", "z")];
    expect([cutBefore(leading, 2), cutBefore(leading, 3)]).toEqual([[0], []]);
  });

  test("a truncated tool result keeps its beginning and end and states its original length", () => {
    const long = `${"a".repeat(2000)}${"z".repeat(2000)}`;
    const [cut] = applyCondensation([message("tool", long)], { kind: "prune", cut: [0] });
    const notice = " [… 4000 characters in all; the rest was left out …] ";
    const end = Math.floor((PRUNED_LENGTH - notice.length) * 0.4);
    expect(cut?.content).toBe(
      `${"a".repeat(PRUNED_LENGTH - notice.length - end)}${notice}${"z".repeat(end)}`,
    );
  });
});

describe("the summary of a conversation", () => {
  const messages = [
    message("system", "S"),
    message("user", "1"),
    message("assistant", "2"),
    message("user", "3"),
  ];
  const summed = (summary: string, summary_tokens: number, ratio?: number) =>
    applyCondensation(
      messages,
      { kind: "summarise", cut: [], from: 1, to: 3, summary_tokens },
      summary,
      ratio,
    )[1]?.content;
  const title = "[2 earlier messages were left out. This is their summary.]\n";

  test("a summary replaces the messages that it covers", () => {
    expect(
      applyCondensation(
        messages,
        { kind: "summarise", cut: [], from: 1, to: 3, summary_tokens: 100 },
        " so \n",
      ),
    ).toEqual([messages[0], { role: "user", content: `${title}so` }, messages[3]]);
  });

  test("a summary is truncated to its token limit, never within a character", () => {
    const room = Buffer.byteLength(title);
    const tokens = Math.ceil(room / 4) + 1;
    const left = tokens * 4 - room;
    expect(summed("x".repeat(left), tokens + 4)).toBe(`${title}${"x".repeat(left)}`);
    expect(summed("x".repeat(left + 1), tokens + 4)).toBe(`${title}${"x".repeat(left)}`);
    expect(summed(`${"x".repeat(left - 1)}ä`, tokens + 4)).toBe(`${title}${"x".repeat(left - 1)}`);
    expect(summed("x", 4)).toBe("");
    expect(summed("x", 3)).toBe("");
    expect(summed("x".repeat(900), (tokens + 4) * 2, 2)?.length).toEqual(
      Math.floor((tokens * 2 + 4) / 2) * 4,
    );
  });

  test("the summary prompt has the author and tool calls of each message", () => {
    const asked = summaryPrompt(
      [...messages, { ...message("user", "4"), name: "ann" }, { ...call("a"), content: " x " }],
      {
        kind: "summarise",
        cut: [],
        from: 3,
        to: 6,
        summary_tokens: 201,
      },
    );
    expect(asked[1]).toEqual({
      role: "user",
      content: "<conversation>\nuser: 3\n\nuser ann: 4\n\nassistant:  x\ncalls look({})\n</conversation>",
    });
    expect(asked[0]?.content).toContain("in at most 100 words");
  });
});

describe("a plan to compact a conversation", () => {
  const plan = (messages: ChatMessage[], more: Partial<CondenseLimits> = {}, reset?: number) =>
    planCondensation(messages, { ...limits, ...more }, reset);
  test("a plan only truncates results if nothing is left to summarize", () => {
    const read = [
      message("system", "x".repeat(1600)),
      call("a"),
      answer("a", 6000),
      message("user", "y"),
      message("user", "z"),
    ];
    expect(plan(read, { keep_first: 2 })).toEqual({ kind: "prune", cut: [2] });
  });

  test("a plan summarizes messages beyond the length or count limit and keeps the newest piece", () => {
    const long = Array.from({ length: 6 }, () => message("user", "x".repeat(1200)));
    expect(plan([message("system", "S"), ...long], { max_messages: 80 })).toEqual({
      kind: "summarise",
      cut: [],
      from: 1,
      to: 6,
      summary_tokens: 100,
    });
    const many = Array.from({ length: 20 }, () => message("user", "x".repeat(100)));
    expect(plan([message("system", "S"), ...many], { context_window: 10_000 })).toEqual({
      kind: "summarise",
      cut: [],
      from: 1,
      to: 20,
      summary_tokens: Math.floor((19 * 29) / 2),
    });
  });

  test("a plan keeps whole pieces at the beginning", () => {
    const messages = [
      message("system", "S"),
      call("a"),
      answer("a", 40),
      ...Array.from({ length: 20 }, () => message("user", "x".repeat(100))),
    ];
    const from = (keep_first: number) => {
      const made = plan(messages, { context_window: 10_000, keep_first });
      return made?.kind === "summarise" ? made.from : made?.kind;
    };
    expect([from(0), from(1), from(2), from(3)]).toEqual([1, 3, 3, 4]);
  });

  test("a plan is impossible after five resets or if there are only system messages", () => {
    const short = [message("user", "x")];
    expect(plan(short, {}, 5)?.kind).toBe("impossible");
    expect(plan(short, {}, 6)?.kind).toBe("impossible");
    expect(plan(short)).toBeNull();
    expect(plan([message("system", "x".repeat(9000)), message("system", "y")])?.kind).toBe("impossible");
    const result = plan(short, {}, 6);
    expect(result?.kind === "impossible" && result.message).toBe(
      "The conversation exceeds the model's context window, even after 5 attempts to compact it.",
    );
  });
});
