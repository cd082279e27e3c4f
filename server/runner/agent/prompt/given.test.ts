import { describe, expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import { FENCES } from "@/server/domain/text/fence";
import { Given, longestThatFits } from "./given";

/** Values cut to 500 characters each: its model reads next to nothing. */
function tight(isReadable = true) {
  const given = new Given(FENCES);
  given.makeRoom(["x".repeat(4000)], { context_window: 10, token_ratio: 1 }, isReadable);
  return given;
}
const long = (sign: string, length = 600) => sign.repeat(length);
const read = (given: Given, args: Record<string, Json>) => {
  const checked = given.tool.check(args);
  if (!checked.ok) return checked.errors;
  const flow = given.tool.call(checked.input, {} as never, "k");
  const step = flow.next();
  return step.done ? step.value : "It waits.";
};

describe("truncated values", () => {
  test("a truncated value shows its beginning and how to read the rest", () => {
    const given = tight();
    expect(given.fitted("page", long("a", 500))).toBe(long("a", 500));
    expect(given.fitted("page", long("a", 501))).toBe(
      `${long("a", 500)}\n[… 1 of 501 characters left out; continue with read_value(name: "page", offset: 500)]`,
    );
    expect(given.cuts).toEqual([{ name: "page", shown: 500, total: 501 }]);
  });

  test("a truncated value says if no tool can read the rest", () => {
    expect(tight(false).fitted("page", long("a"))).toBe(
      `${long("a", 500)}\n[… 100 of 600 characters left out; the rest cannot be read here]`,
    );
  });

  test("truncation never splits a character", () => {
    const given = tight();
    expect(given.fitted("page", `${long("a", 499)}😀${long("b")}`)).toBe(
      `${long("a", 499)}\n[… 602 of 1101 characters left out; continue with read_value(name: "page", offset: 499)]`,
    );
    expect(given.cuts).toEqual([{ name: "page", shown: 499, total: 1101 }]);
  });

  test("different truncated values get different names, and equal ones share a name", () => {
    const given = tight();
    given.fitted("page", long("a"));
    given.fitted("page", long("a"));
    expect(given.fitted("page", long("b"))).toContain('read_value(name: "page (2)", offset: 500)');
    expect(given.cuts.map(({ name }) => name)).toEqual(["page", "page (2)"]);
    expect(read(given, { name: "page (2)", limit: 3 })).toMatchObject({ output: { content: "bbb" } });
  });

  test("a truncated value in a fence is named after its task", () => {
    const given = tight();
    expect(given.fence("result", long("a"), { task: "t1" })).toBe(
      `<result task="t1">\n${long("a", 500)}\n[… 100 of 600 characters left out; continue with read_value(name: "t1", offset: 500)]\n</result>`,
    );
    expect(given.named("short", { a: 1 })).toMatch(/^<short>.*"a":\s*1.*<\/short>$/s);
  });
});

describe("reading truncated values", () => {
  const given = tight();
  given.fitted("page", `${long("a", 300)}${long("b", 300)}`);
  test("reading a truncated value returns a part and the next offset", () => {
    expect(read(given, { name: "page", offset: 299, limit: 2 })).toEqual({
      status_code: 200,
      output: { content: "ab", offset: 299, total: 600, next_offset: 301 },
    });
    expect(read(given, { name: "page" })).toMatchObject({ output: { offset: 0, next_offset: null } });
  });
  test("reading a truncated value ends at its last character", () => {
    expect(read(given, { name: "page", offset: 598, limit: 2 })).toMatchObject({
      output: { content: "bb", next_offset: null },
    });
    expect(read(given, { name: "page", offset: 597, limit: 2 })).toMatchObject({
      output: { content: "bb", next_offset: 599 },
    });
    expect(read(given, { name: "page", offset: 900 })).toMatchObject({
      output: { content: "", next_offset: null },
    });
  });
  test("reading a value that was not truncated fails", () => {
    expect(read(given, { name: "book" })).toEqual({
      status_code: 404,
      error: "No truncated value has that name. Available: page.",
    });
  });
});

describe("space for values", () => {
  const roomFor = (values: readonly Json[], context_window: number) => {
    const given = new Given(FENCES);
    given.makeRoom(values, { context_window, token_ratio: 1 }, true);
    return (length: number) => given.fitted("x", long("a", length)).length === length;
  };
  test("values get half of the context window, and short ones take only what they need", () => {
    // Four characters a token: 1000 tokens are 2000 characters for values.
    const fits = roomFor([long("a", 400), long("b", 3000), long("c", 3000)], 1000);
    expect([fits(800), fits(801)]).toEqual([true, false]);
  });
  test("the space limit also applies to values added later", () => {
    const fits = roomFor([long("a", 400)], 1000);
    expect([fits(2000), fits(2001)]).toEqual([true, false]);
  });
  test("space without values is estimated at three characters per token", () => {
    const fits = roomFor([], 1000);
    expect([fits(1500), fits(1501)]).toEqual([true, false]);
  });
  test.each([
    [[], 10, Number.POSITIVE_INFINITY],
    [[5, 5], 10, Number.POSITIVE_INFINITY],
    [[5, 6], 10, 5],
    [[1, 8, 9], 10, 4],
    [[9, 1, 8], 10, 4],
    [[1, 1, 9], 10, 8],
  ])("values of lengths %j that share %i characters are truncated to %d", (lengths, room, most) => {
    expect(longestThatFits(lengths, room)).toBe(most);
  });
});
