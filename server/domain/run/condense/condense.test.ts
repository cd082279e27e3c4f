import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ChatMessage } from "../events";
import {
  applyCondensation,
  type CondenseLimits,
  estimateTranscript,
  LEAST_PROGRESS,
  PRUNED_LENGTH,
  planCondensation,
  summaryPrompt,
} from "./condense";

const limits: CondenseLimits = {
  context_window: 1000,
  condense_at: 0.75,
  target: 0.5,
  keep_first: 4,
  max_messages: 80,
};
const message = (role: ChatMessage["role"], content: string): ChatMessage => ({ role, content });
const call = (...ids: string[]): ChatMessage => ({
  role: "assistant",
  content: "",
  tool_calls: ids.map((id) => ({ id, tool_name: "file_read", args: { path: id } })),
});
const answer = (id: string, length: number): ChatMessage => ({
  role: "tool",
  content: "r".repeat(length),
  tool_call_id: id,
});
const opening = [
  message("system", "You are a clerk."),
  message("user", "Task"),
  message("assistant", "1"),
  message("user", "2"),
  message("assistant", "3"),
];

describe("a plan to compact a conversation", () => {
  test("a plan truncates old tool results if that is enough, and keeps the newest whole", () => {
    const messages = [
      ...opening,
      call("a"),
      answer("a", 2400),
      call("b"),
      answer("b", 400),
      call("c"),
      answer("c", 600),
    ];
    const plan = planCondensation(messages, limits);
    expect(plan).toEqual({ kind: "prune", cut: [6] });
    const shorter = applyCondensation(messages, { kind: "prune", cut: [6] });
    expect(shorter[6]!.content).toHaveLength(PRUNED_LENGTH);
    expect(shorter[6]!.content).toContain("[… 2400 characters in all; the rest was left out …]");
    expect(shorter.toSpliced(6, 1)).toEqual(messages.toSpliced(6, 1));
    expect(planCondensation(shorter, limits)).toBeNull();
  });

  test("a plan summarizes the middle if truncating results is not enough", () => {
    const chat = Array.from({ length: 12 }, (_, n) =>
      message(n % 2 ? "user" : "assistant", `${n} `.repeat(120)),
    );
    const messages = [...opening, ...chat];
    expect(planCondensation(messages, limits)).toEqual({
      kind: "summarise",
      cut: [],
      from: 5,
      to: 13,
      summary_tokens: 100,
    });
    const shorter = applyCondensation(
      messages,
      { kind: "summarise", cut: [], from: 5, to: 13, summary_tokens: 100 },
      "PENDING: all",
    );
    expect(shorter).toEqual([
      ...opening,
      message("user", "[8 earlier messages were left out. This is their summary.]\nPENDING: all"),
      ...chat.slice(8),
    ]);
  });

  test("a plan summarizes a long conversation of short messages", () => {
    const messages = [...opening, ...Array.from({ length: 80 }, (_, n) => message("user", `${n}`))];
    const plan = planCondensation(messages, { ...limits, context_window: 100_000 });
    // Half of 80 messages: the opening, the summary, and the newest 34.
    expect(plan).toMatchObject({ kind: "summarise", from: 5, to: 51 });
  });

  test("each of five hard resets removes more", () => {
    const messages = [
      ...opening,
      ...Array.from({ length: 60 }, (_, n) => message("user", `${n} `.repeat(30))),
    ];
    const wide = { ...limits, context_window: 8000, max_messages: 500 };
    const ends = [1, 2, 3, 4, 5].map((reset) => {
      const plan = planCondensation(messages, wide, reset);
      return plan?.kind === "summarise" ? plan.to : plan;
    });
    expect(ends).toEqual([...ends].sort((a, b) => Number(a) - Number(b)));
    expect(new Set(ends).size).toBe(5);
    expect(planCondensation(messages, wide, 6)).toMatchObject({ kind: "impossible" });
    // Also the newest results are cut then.
    const read = [...opening, call("a"), answer("a", 3000)];
    expect(planCondensation(read, { ...limits, context_window: 1200 }, 1)).toEqual({
      kind: "prune",
      cut: [6],
    });
  });
});

test("the summary prompt contains the truncated messages and the headings", () => {
  const messages = [...opening, call("a"), answer("a", 900), message("assistant", "done")];
  const [system, user] = summaryPrompt(messages, {
    kind: "summarise",
    cut: [6],
    from: 5,
    to: 8,
    summary_tokens: 200,
  });
  for (const heading of [
    "USER_CONTEXT",
    "TASK_TRACKING",
    "COMPLETED",
    "PENDING",
    "CURRENT_STATE",
    "KEY VALUES",
  ])
    expect(system!.content).toContain(`\n${heading}: `);
  expect(system!.content).toContain("at most 100 words");
  expect(user!.content).toMatch(
    /^<conversation>\nassistant:\ncalls file_read\({"path":"a"}\)\n\ntool: r+ \[… 900 /,
  );
  expect(user!.content).toMatch(/assistant: done\n<\/conversation>$/);
});

test("a result that truncating would not shorten is kept whole", () => {
  const limits = { context_window: 500, condense_at: 0.5, target: 0.3, keep_first: 0, max_messages: 10 };
  const barely = [
    message("system", "You are a clerk."),
    message("user", "Task"),
    call("a"),
    answer("a", PRUNED_LENGTH + 1),
  ];
  const plan = planCondensation(barely, { ...limits, ratio: 0.8 }, 1);
  expect(plan?.kind === "impossible" ? [] : plan?.cut).toEqual([]);
});

/** Transcripts as agents write them: every call is answered, some in another order. */
const transcript = fc
  .array(
    fc.oneof(
      fc.record({ role: fc.constantFrom("user" as const, "assistant" as const), length: fc.nat(1500) }),
      fc.record({ results: fc.array(fc.nat(4000), { minLength: 1, maxLength: 4 }), turned: fc.boolean() }),
    ),
    { maxLength: 60 },
  )
  .map((turns) => [
    message("system", "You are a clerk."),
    message("user", "Task"),
    ...turns.flatMap((turn, n) => {
      if ("role" in turn) return [message(turn.role, "wört ".repeat(turn.length / 6))];
      const ids = turn.results.map((_, at) => `call_${n}_${at}`);
      const answers = turn.results.map((length, at) => answer(ids[at]!, length));
      return [call(...ids), ...(turn.turned ? answers.toReversed() : answers)];
    }),
  ]);
const anyLimits = fc.record({
  context_window: fc.integer({ min: 500, max: 20_000 }),
  condense_at: fc.constantFrom(0.5, 0.75),
  target: fc.constantFrom(0.3, 0.5),
  keep_first: fc.nat(6),
  max_messages: fc.integer({ min: 10, max: 80 }),
  ratio: fc.constantFrom(0.8, 1, 1.7),
});

test("compacting keeps the beginning, the newest message and all call results, and shortens the transcript", () => {
  fc.assert(
    fc.property(
      transcript,
      anyLimits,
      fc.nat(5),
      fc.string({ maxLength: 40_000, unit: "grapheme" }),
      (messages, given, reset, summary) => {
        const plan = planCondensation(messages, given, reset);
        if (!plan || plan.kind === "impossible") return;
        const shorter = applyCondensation(messages, plan, summary, given.ratio);
        expect(estimateTranscript(shorter, given.ratio)).toBeLessThan(
          estimateTranscript(messages, given.ratio),
        );
        const kept = Math.min(1 + given.keep_first, messages.length);
        const pruned = applyCondensation(messages, { kind: "prune", cut: plan.cut });
        expect(shorter.slice(0, kept)).toEqual(pruned.slice(0, kept));
        expect(shorter.at(-1)).toEqual(pruned.at(-1));
        const asked = shorter.flatMap(({ tool_calls }) => tool_calls?.map(({ id }) => id) ?? []);
        const answered = shorter.flatMap(({ tool_call_id }) => tool_call_id ?? []);
        expect(answered.toSorted()).toEqual(asked.toSorted());
        if (plan.kind === "summarise")
          expect(plan.to - plan.from).toBeGreaterThanOrEqual(messages.length * LEAST_PROGRESS);
      },
    ),
    { numRuns: 500 },
  );
});
