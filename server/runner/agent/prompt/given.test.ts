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

describe("a value that is too long", () => {
  test("is shown with its beginning and with how to read on; one that just fits is whole", () => {
    const given = tight();
    expect(given.fitted("page", long("a", 500))).toBe(long("a", 500));
    expect(given.fitted("page", long("a", 501))).toBe(
      `${long("a", 500)}\n[… 1 of 501 characters left out; continue with read_value(name: "page", offset: 500)]`,
    );
    expect(given.cuts).toEqual([{ name: "page", shown: 500, total: 501 }]);
  });

  test("is said to end there where nobody can read on", () => {
    expect(tight(false).fitted("page", long("a"))).toBe(
      `${long("a", 500)}\n[… 100 of 600 characters left out; the rest cannot be read here]`,
    );
  });

  test("is never cut in the middle of a sign", () => {
    const given = tight();
    expect(given.fitted("page", `${long("a", 499)}😀${long("b")}`)).toBe(
      `${long("a", 499)}\n[… 602 of 1101 characters left out; continue with read_value(name: "page", offset: 499)]`,
    );
    expect(given.cuts).toEqual([{ name: "page", shown: 499, total: 1101 }]);
  });

  test("has a name of its own where another one has it, and the same one where it is the same", () => {
    const given = tight();
    given.fitted("page", long("a"));
    given.fitted("page", long("a"));
    expect(given.fitted("page", long("b"))).toContain('read_value(name: "page (2)", offset: 500)');
    expect(given.cuts.map(({ name }) => name)).toEqual(["page", "page (2)"]);
    expect(read(given, { name: "page (2)", limit: 3 })).toMatchObject({ output: { content: "bbb" } });
  });

  test("is written in its fence by the task that it is of", () => {
    const given = tight();
    expect(given.fence("result", long("a"), { task: "t1" })).toBe(
      `<result task="t1">\n${long("a", 500)}\n[… 100 of 600 characters left out; continue with read_value(name: "t1", offset: 500)]\n</result>`,
    );
    expect(given.named("short", { a: 1 })).toMatch(/^<short>.*"a":\s*1.*<\/short>$/s);
  });
});

describe("reading on in it", () => {
  const given = tight();
  given.fitted("page", `${long("a", 300)}${long("b", 300)}`);
  test("gives a part and where the next one begins", () => {
    expect(read(given, { name: "page", offset: 299, limit: 2 })).toEqual({
      status_code: 200,
      output: { content: "ab", offset: 299, total: 600, next_offset: 301 },
    });
    expect(read(given, { name: "page" })).toMatchObject({ output: { offset: 0, next_offset: null } });
  });
  test("ends where the value does", () => {
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
  test("is refused for what was not cut", () => {
    expect(read(given, { name: "book" })).toEqual({
      status_code: 404,
      error: "No truncated value has that name. Available:  page.",
    });
  });
});

describe("the room for values", () => {
  const roomFor = (values: readonly Json[], context_window: number) => {
    const given = new Given(FENCES);
    given.makeRoom(values, { context_window, token_ratio: 1 }, true);
    return (length: number) => given.fitted("x", long("a", length)).length === length;
  };
  test("is half of what the model reads, of which the short ones take what they need", () => {
    // Four characters a token: 1000 tokens are 2000 characters for values.
    const fits = roomFor([long("a", 400), long("b", 3000), long("c", 3000)], 1000);
    expect([fits(800), fits(801)]).toEqual([true, false]);
  });
  test("also bounds what comes later, where the values themselves fit", () => {
    const fits = roomFor([long("a", 400)], 1000);
    expect([fits(2000), fits(2001)]).toEqual([true, false]);
  });
  test("is counted with three characters a token where there are no values yet", () => {
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
  ])("%j share %i so that each is cut to %d", (lengths, room, most) => {
    expect(longestThatFits(lengths, room)).toBe(most);
  });
});
