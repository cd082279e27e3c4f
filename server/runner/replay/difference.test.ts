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

test("the nearest recorded request is the one with most in common, and what differs is told by its place", () => {
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

test("of long texts the first line that differs is told, and what is only there once has nothing beside it", () => {
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

test("of a very long line what is around the difference is told", () => {
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

test("where nothing of the kind is left, and where the same is asked once more, it says so", () => {
  expect(differenceFrom(tool("send", { to: "bob" }), [model("You are Ann")])).toEqual({
    kind: "tool",
    tool: "send",
    nearest: null,
    changes: [],
    more: 0,
    sentence: "It calls the tool send, but no recorded call to a tool is left.",
  });
});

test("the very same request is said to be asked once more, and a single other place is one place", () => {
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
  ["whose name is no text", { kind: "tool", asked: { tool: 7 } }, {}],
  ["that is a list", { kind: "tool", asked: ["send"] }, {}],
  ["that is nothing", { kind: "tool", asked: null }, {}],
  ["that is a text", { kind: "tool", asked: "send" }, {}],
])("a call of a tool %s is told as one with no name", (_what, request, about) => {
  expect(differenceFrom(request, [])).toEqual({
    kind: "tool",
    ...about,
    nearest: null,
    changes: [],
    more: 0,
    sentence: "It calls the tool without a name, but no recorded call to a tool is left.",
  });
});

describe("which recorded request is the nearest", () => {
  const nearest = (asked: Json, ...recorded: Json[]) =>
    differenceFrom(
      { kind: "tool", asked },
      recorded.map((one) => ({ kind: "tool", asked: one })),
    ).nearest;
  test.each<[string, Json, Json[], number]>([
    ["the first of equals", { a: 1 }, [{ a: 2 }, { a: 3 }], 0],
    ["one that has nothing in common, where there is no other", { a: 1 }, [{ b: 2 }], 0],
    [
      "one with more values that are the same",
      { a: 1, b: 2 },
      [
        { a: 1, b: 3 },
        { a: 1, b: 2, c: 3 },
      ],
      1,
    ],
    ["one with fewer values beside the same", { a: 1 }, [{ a: 1, b: 1 }, { a: 1 }], 1],
    ["a text that begins alike", { a: "abcd" }, [{ a: "xxxx" }, { a: "abcx" }], 1],
    ["a text that ends alike", { a: "abcd" }, [{ a: "abxx" }, { a: "xbcd" }], 1],
    ["the same text before one that is nearly so", { a: "abcd" }, [{ a: "abcde" }, { a: "abcd" }], 1],
    ["a text that is not longer than need be", { a: "ab" }, [{ a: "abab" }, { a: "abb" }], 1],
    ["an empty list, and no empty object", { a: [] }, [{ a: {} }, { a: [] }], 1],
    ["nothing that is only as empty", { a: [1] }, [{ a: [] }, { a: [1, 2] }], 1],
    [
      "no number for a text",
      { a: "1", b: 0 },
      [
        { a: 1, b: 1 },
        { a: "12", b: 1 },
      ],
      1,
    ],
  ])("%s", (_what, asked, recorded, at) => {
    expect(nearest(asked, ...recorded)).toBe(at);
  });
});

describe("how much of a value is told", () => {
  const changesOf = (recorded: Json, asked: Json) =>
    differenceFrom({ kind: "tool", asked: { a: asked } }, [{ kind: "tool", asked: { a: recorded } }]).changes;
  test("a value that is no text is told as JSON, cut where it is long", () => {
    expect(changesOf(1, [])).toEqual([{ path: "a", recorded: "1", asked: "[]" }]);
    expect(changesOf(null, "x")).toEqual([{ path: "a", recorded: "null", asked: "x" }]);
  });
  test("texts of up to 120 characters in one line are told whole, longer ones by their line", () => {
    const [short, long] = ["x".repeat(120), "x".repeat(121)];
    expect(changesOf(short, "y")).toEqual([{ path: "a", recorded: short, asked: "y" }]);
    expect(changesOf(long, "y")).toEqual([{ path: "a", line: 1, recorded: long, asked: "y" }]);
    expect(changesOf("y", long)).toEqual([{ path: "a", line: 1, recorded: "y", asked: long }]);
    expect(changesOf(7, long)).toEqual([{ path: "a", recorded: "7", asked: long }]);
  });
  test("of lines of up to 240 characters the whole is told, of longer ones from a little before the difference", () => {
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
  test("a text that goes on where the other ends has nothing beside its next line", () => {
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
