import { expect, test } from "vitest";
import { madeUpNames, newNamelessText } from "./names";

test("generated names of calls and files are found everywhere, and nothing else is", () => {
  expect([
    ...madeUpNames([
      {
        tool_calls: [
          { id: "call_1", tool_name: "look", args: { id: "kept" } },
          [{ id: "call_2" }],
          { id: "abc" },
          { id: "four" },
          { id: 12345 },
        ],
        output: [{ artifact_id: "art_1", tool_call_id: "call_3", id: "mine" }],
        artifact_id: "xyz",
      },
      "art_9",
      null,
      7,
    ]),
  ]).toEqual(["call_1", "call_2", "four", "art_1", "call_3"]);
});

test("texts are equal for runs that differ only in generated names", () => {
  const text = newNamelessText(new Set(["id", "id_long", "a.b"]));
  expect(text({ b: "id_long and id", a: ["id_long", "a.b", "a-b"] })).toBe(
    '{"a":["name~1","name~2","a-b"],"b":"name~1 and name~3"}',
  );
  // Each text counts its own names.
  expect(text("id")).toBe('"name~1"');
  expect(text("id id_long id")).toBe('"name~1 name~2 name~1"');
});

test("a text without generated names keeps its content and drops latencies", () => {
  const text = newNamelessText(new Set());
  expect(text("{name}")).toBe('"{name}"');
  expect(
    text({
      latency_ms: 4,
      ttft_ms: 1,
      carried: ["sealed"],
      reused: "r",
      content: "x",
      inner: [{ latency_ms: 1, kept: null }, 5],
    }),
  ).toBe('{"content":"x","inner":[{"kept":null},5]}');
});
