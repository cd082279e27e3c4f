import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import { isTooLong, MAX_OUTPUT_CHARS, textOf, truncateOutput } from "./truncate";

const artifact_id = "art_12";

test("output within the limit is unchanged", () => {
  expect(truncateOutput("short", {})).toBe("short");
  expect(truncateOutput({ a: [1, 2] }, {})).toBe('{"a":[1,2]}');
  expect(isTooLong("x".repeat(MAX_OUTPUT_CHARS))).toBe(false);
  expect(isTooLong("x".repeat(MAX_OUTPUT_CHARS + 1))).toBe(true);
});

test("a long text keeps 60% head and 40% tail, and the notice counts the omission", () => {
  const cut = truncateOutput(`${"a".repeat(40_000)}${"z".repeat(24_210)}`, { artifact_id });
  expect(cut.length).toBe(MAX_OUTPUT_CHARS);
  const [head = "", notice = "", tail = ""] = cut.split("\n");
  expect([new Set(head), new Set(tail)]).toEqual([new Set("a"), new Set("z")]);
  expect(head.length / (head.length + tail.length)).toBeCloseTo(0.6, 3);
  const omitted = 64_210 - head.length - tail.length;
  expect(notice).toBe(
    `[… ${omitted.toLocaleString("en").replace(",", " ")} characters omitted; full result: read_artifact("art_12", offset)]`,
  );
});

test("long JSON lists are shortened first, so that the result stays valid JSON", () => {
  const rows = Array.from({ length: 900 }, (_, n) => ({ n, text: "some words" }));
  const cut = truncateOutput({ status: 200, rows }, { artifact_id });
  const [json = "", notice] = cut.split("\n");
  const read = JSON.parse(json) as { status: number; rows: unknown[] };
  expect(read.status).toBe(200);
  expect(read.rows.length).toBe(21);
  expect(read.rows[19]).toEqual(rows[19]);
  expect(read.rows[20]).toBe("… 880 more of 900");
  expect(notice).toContain("art_12");
});

test("truncated output respects the limit, keeps both ends, and splits no character", () => {
  const anyText = fc.oneof(
    fc.string({ unit: "binary", maxLength: 1_000 }),
    fc
      .array(fc.constantFrom("😀", "é", "\u{10ffff}", "\ud83d", "a\n"), { maxLength: 500 })
      .map((x) => x.join("")),
  );
  const anyOutput = fc.oneof(anyText, fc.array(anyText, { maxLength: 20 }), fc.jsonValue());
  fc.assert(
    fc.property(anyOutput, fc.integer({ min: 0, max: 1_000 }), (given, limit) => {
      const output = given as Json;
      const whole = textOf(output);
      const cut = truncateOutput(output, { artifact_id, limit });
      expect(cut.length).toBeLessThanOrEqual(limit);
      expect(cut.isWellFormed()).toBe(true);
      if (!isTooLong(output, limit)) {
        expect(cut).toBe(whole);
      } else if (limit >= 200) {
        expect(cut).toContain('read_artifact("art_12", offset)');
        expect(cut.slice(0, 20)).toBe(whole.slice(0, 20));
        if (typeof output === "string") expect(cut.slice(-10)).toBe(whole.slice(-10));
      }
    }),
  );
});
