import { expect, test } from "vitest";
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
      "It asks a model something else than the nearest recorded call: at messages[1].content, recorded was “Write it” and asked is “Write”.",
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
    "It asks a model something else than the nearest recorded call: at messages[0].content, line 3, recorded was “three” and asked is “3”. 2 more places differ.",
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
    sentence: "It asks the tool send, and no recorded call of a tool is left.",
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
