import { describe, expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import { type AskedRequest, differenceFrom } from "./difference";

const model = (...contents: string[]): AskedRequest => ({
  kind: "model",
  asked: {
    llm_config: { temperature: 0 },
    messages: contents.map((content, at) => ({ role: at === 0 ? "system" : "user", content })),
  },
});
const tool = (name: string, args: Record<string, string>): AskedRequest => ({
  kind: "tool",
  asked: { tool: name, args, answers: [] },
});

test("the closest recorded request shares the most values, and differences are listed by path", () => {
  expect(
    differenceFrom(model("You are Ann", "Write"), [
      tool("send", { to: "bob" }),
      model("You are Bob", "Read the file"),
      model("You are Ann", "Write it"),
    ]),
  ).toEqual({
    kind: "model",
    nearest: 2,
    changes: [{ path: "messages[1].content", recorded: "Write it", asked: "Write" }],
    more: 0,
    sentence:
      "Its call to a model differs from the closest recorded one: at messages[1].content, recorded: “Write it”; requested: “Write”.",
  });
});

test("long texts show their first differing line, and extra values have no counterpart", () => {
  const lines = (third: string) => ["one", "two", third, "four"].join("\n");
  const { changes, sentence } = differenceFrom(model(lines("3")), [model(lines("three"), "more")]);
  expect(changes).toEqual([
    { path: "messages[0].content", line: 3, recorded: "three", asked: "3" },
    { path: "messages[1].content", recorded: "more", asked: null },
    { path: "messages[1].role", recorded: "user", asked: null },
  ]);
  expect(sentence).toBe(
    "Its call to a model differs from the closest recorded one: at messages[0].content, line 3, recorded: “three”; requested: “3”. 2 more places differ.",
  );
});

test("a very long line shows the text around its difference", () => {
  const line = (end: string) => `${"x".repeat(1000)}${end}`;
  const { changes } = differenceFrom(model(line("a")), [model(line("b"))]);
  expect(changes).toEqual([
    {
      path: "messages[0].content",
      line: 1,
      recorded: `…${"x".repeat(40)}b`,
      asked: `…${"x".repeat(40)}a`,
    },
  ]);
});

test("a request without a recorded counterpart, or beyond the recorded number, is reported as such", () => {
  expect(differenceFrom(tool("send", { to: "bob" }), [model("You are Ann")])).toEqual({
    kind: "tool",
    tool: "send",
    nearest: null,
    changes: [],
    more: 0,
    sentence: "It calls the tool send, but no recorded call to a tool is left.",
  });
});

test("an identical request is reported as repeated, and a single other difference in the singular", () => {
  expect(differenceFrom(model("You are Ann"), [model("You are Ann")])).toEqual({
    kind: "model",
    nearest: 0,
    changes: [],
    more: 0,
    sentence: "It calls a model one more time than recorded.",
  });
  expect(
    differenceFrom(tool("send", { to: "bob", as: "ann" }), [tool("send", { to: "cid", by: "ann" })]),
  ).toEqual({
    kind: "tool",
    tool: "send",
    nearest: 0,
    changes: [
      { path: "args.as", recorded: null, asked: "ann" },
      { path: "args.to", recorded: "cid", asked: "bob" },
      { path: "args.by", recorded: "ann", asked: null },
    ],
    more: 0,
    sentence:
      "Its call to the tool send differs from the closest recorded one: at args.as, recorded: nothing; requested: “ann”. 2 more places differ.",
  });
  expect(differenceFrom(tool("send", { a: "1", b: "2" }), [tool("send", { a: "2", b: "1" })]).sentence).toBe(
    "Its call to the tool send differs from the closest recorded one: at args.a, recorded: “2”; requested: “1”. 1 more place differs.",
  );
});

test.each<[string, AskedRequest, object]>([
  ["without a name", { kind: "tool", asked: { args: {} } }, {}],
  ["whose name is not text", { kind: "tool", asked: { tool: 7 } }, {}],
  ["that is a list", { kind: "tool", asked: ["send"] }, {}],
  ["that is null", { kind: "tool", asked: null }, {}],
  ["that is text", { kind: "tool", asked: "send" }, {}],
])("a tool call %s is reported as a call without a name", (_what, request, about) => {
  expect(differenceFrom(request, [])).toEqual({
    kind: "tool",
    ...about,
    nearest: null,
    changes: [],
    more: 0,
    sentence: "It calls the tool without a name, but no recorded call to a tool is left.",
  });
});

describe("the closest recorded request", () => {
  const nearest = (asked: Json, ...recorded: Json[]) =>
    differenceFrom(
      { kind: "tool", asked },
      recorded.map((one) => ({ kind: "tool", asked: one })),
    ).nearest;
  test.each<[string, Json, Json[], number]>([
    ["the first of equal candidates", { a: 1 }, [{ a: 2 }, { a: 3 }], 0],
    ["an unrelated request if there is no other", { a: 1 }, [{ b: 2 }], 0],
    [
      "the request with more equal values",
      { a: 1, b: 2 },
      [
        { a: 1, b: 3 },
        { a: 1, b: 2, c: 3 },
      ],
      1,
    ],
    ["the request with fewer extra values", { a: 1 }, [{ a: 1, b: 1 }, { a: 1 }], 1],
    ["the text with the same beginning", { a: "abcd" }, [{ a: "xxxx" }, { a: "abcx" }], 1],
    ["the text with the same ending", { a: "abcd" }, [{ a: "abxx" }, { a: "xbcd" }], 1],
    ["an equal text rather than a similar text", { a: "abcd" }, [{ a: "abcde" }, { a: "abcd" }], 1],
    ["the shorter of two similar texts", { a: "ab" }, [{ a: "abab" }, { a: "abb" }], 1],
    ["an empty list rather than an empty object", { a: [] }, [{ a: {} }, { a: [] }], 1],
    ["the list with an equal item rather than an empty list", { a: [1] }, [{ a: [] }, { a: [1, 2] }], 1],
    [
      "a similar text rather than an equal number",
      { a: "1", b: 0 },
      [
        { a: 1, b: 1 },
        { a: "12", b: 1 },
      ],
      1,
    ],
  ])("the closest recorded request is %s", (_what, asked, recorded, at) => {
    expect(nearest(asked, ...recorded)).toBe(at);
  });
});

describe("the length of shown values", () => {
  const changesOf = (recorded: Json, asked: Json) =>
    differenceFrom({ kind: "tool", asked: { a: asked } }, [{ kind: "tool", asked: { a: recorded } }]).changes;
  test("a value that is not text is shown as JSON, truncated if long", () => {
    expect(changesOf(1, [])).toEqual([{ path: "a", recorded: "1", asked: "[]" }]);
    expect(changesOf(null, "x")).toEqual([{ path: "a", recorded: "null", asked: "x" }]);
  });
  test("a text in a single line is shown in full up to 120 characters, and by line beyond", () => {
    const [short, long] = ["x".repeat(120), "x".repeat(121)];
    expect(changesOf(short, "y")).toEqual([{ path: "a", recorded: short, asked: "y" }]);
    expect(changesOf(long, "y")).toEqual([{ path: "a", line: 1, recorded: long, asked: "y" }]);
    expect(changesOf("y", long)).toEqual([{ path: "a", line: 1, recorded: "y", asked: long }]);
    expect(changesOf(7, long)).toEqual([{ path: "a", recorded: "7", asked: long }]);
  });
  test("a line is shown in full up to 240 characters, and around its difference beyond", () => {
    const line = (length: number, end: string) => `${"x".repeat(length - end.length)}${end}`;
    expect(changesOf(line(240, "a"), line(240, "b"))).toEqual([
      { path: "a", line: 1, recorded: line(240, "a"), asked: line(240, "b") },
    ]);
    expect(changesOf(line(241, "a"), "b")).toEqual([
      { path: "a", line: 1, recorded: `${"x".repeat(239)}…`, asked: "b" },
    ]);
    expect(changesOf("b", line(241, "a"))).toEqual([
      { path: "a", line: 1, recorded: "b", asked: `${"x".repeat(239)}…` },
    ]);
    const cut = line(300, "y".repeat(280));
    expect(changesOf(line(300, ""), cut)).toEqual([
      { path: "a", line: 1, recorded: "x".repeat(239).concat("…"), asked: `${cut.slice(0, 239)}…` },
    ]);
    expect(changesOf(line(300, "y".repeat(255)), line(300, "z".repeat(255)))).toEqual([
      {
        path: "a",
        line: 1,
        recorded: `…${"x".repeat(40)}${"y".repeat(199)}…`,
        asked: `…${"x".repeat(40)}${"z".repeat(199)}…`,
      },
    ]);
  });
  test("a text that continues where the other ends has no counterpart for its next line", () => {
    expect(changesOf("one\ntwo", "one")).toEqual([{ path: "a", line: 2, recorded: "two", asked: null }]);
    expect(changesOf("one", "one\n")).toEqual([{ path: "a", line: 2, recorded: null, asked: "" }]);
  });
});

test("many differences are counted, and the first are listed", () => {
  const args = (value: string) =>
    Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`a${String(at).padStart(2, "0")}`, value]));
  const { changes, more } = differenceFrom(tool("send", args("y")), [tool("send", args("x"))]);
  expect([changes.length, more, changes[0]]).toEqual([
    12,
    8,
    { path: "args.a00", recorded: "x", asked: "y" },
  ]);
});
