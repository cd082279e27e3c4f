import { describe, expect, test } from "vitest";
import { currentCapability, LESSON_DAYS, lessonsOf, withLesson, withoutLesson } from "./lessons";

const DAY = 24 * 3_600_000;
const NOW = 1_800_000_000_000;

describe("lessons from refusals", () => {
  const first = withLesson({ context_window: 8192 }, { refuses: ["temperature"] }, NOW);
  const both = withLesson(first, { refuses: ["seed"] }, NOW + DAY);
  const all = withLesson(both, { native_tools: false }, NOW + 2 * DAY);

  test("each lesson belongs to a setting and has its own time", () => {
    expect(all).toEqual({
      context_window: 8192,
      native_tools: false,
      refuses: ["temperature", "seed"],
      learned_at: { "refuses:temperature": NOW, "refuses:seed": NOW + DAY, native_tools: NOW + 2 * DAY },
    });
  });
  test("lessons expire individually, but test results are kept", () => {
    expect(currentCapability(all, NOW + LESSON_DAYS * DAY - 1)).toEqual(all);
    expect(currentCapability(all, NOW + LESSON_DAYS * DAY)).toEqual({
      context_window: 8192,
      native_tools: false,
      refuses: ["seed"],
      learned_at: { "refuses:seed": NOW + DAY, native_tools: NOW + 2 * DAY },
    });
    expect(currentCapability(all, NOW + 20 * DAY)).toEqual({ context_window: 8192 });
    expect(currentCapability({ native_tools: false }, NOW)).toEqual({ native_tools: false });
  });
  test("lessons can be forgotten individually", () => {
    expect(withoutLesson(all, "refuses:temperature").refuses).toEqual(["seed"]);
    const keys = lessonsOf(all, NOW + 2 * DAY).map(({ key }) => key);
    expect(keys.reduce(withoutLesson, all)).toEqual({});
  });
  test("only lessons that differ from the defaults are described", () => {
    expect(lessonsOf(all, NOW + 2 * DAY)).toEqual([
      { key: "context_window", text: "Context window: 8,192 tokens." },
      {
        key: "native_tools",
        text: "Tools are offered as text, because the model doesn't support function calling.",
        learned_at: NOW + 2 * DAY,
      },
      {
        key: "refuses:temperature",
        text: "“temperature” isn't sent, because the model rejects it.",
        learned_at: NOW,
      },
      {
        key: "refuses:seed",
        text: "“seed” isn't sent, because the model rejects it.",
        learned_at: NOW + DAY,
      },
    ]);
    expect(lessonsOf({ native_tools: true, response_format: "strict", parallel_tools: true }, NOW)).toEqual(
      [],
    );
  });
});
