import { describe, expect, test } from "vitest";
import { z } from "zod";
import { errorCode, errorMessage, reasonOf } from "./guards";
import { JSON_LIMITS, jsonTextProblem } from "./json-limits";
import {
  cleanCopy,
  Findings,
  MAX_DEPTH,
  readLeniently,
  renameField,
  unwrapText,
  withoutNulls,
} from "./lenient-reader";

describe("untrusted JSON text", () => {
  const many = (count: number, text: string) => Array.from({ length: count }, () => text).join(",");
  const keys = (count: number) => `{${Array.from({ length: count }, (_, n) => `"k${n}":1`).join(",")}}`;
  const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

  test("JSON beyond the limits of depth, key length, keys, containers or values is rejected", () => {
    const { depth, keyLength, keysPerObject, containers, values } = JSON_LIMITS;
    const key = (length: number) => `{"${"k".repeat(length)}":1}`;
    // Lists hold each other's: one around all of them counts, too.
    const lists = (count: number) => `[${many(count - 1, "[]")}]`;
    const numbers = (count: number) => `[${many(count, "1")}]`;
    expect(
      [deep(depth), key(keyLength), keys(keysPerObject), lists(containers), numbers(values)].map(
        jsonTextProblem,
      ),
    ).toEqual([null, null, null, null, null]);
    expect(jsonTextProblem(deep(depth + 1))).toBe("The JSON is nested deeper than 32 levels.");
    expect(jsonTextProblem(key(keyLength + 1))).toBe("A key is longer than 128 characters.");
    expect(jsonTextProblem(keys(keysPerObject + 1))).toBe("An object has more than 2000 keys.");
    expect(jsonTextProblem(lists(containers + 1))).toBe(
      "The JSON contains more than 50000 objects and lists.",
    );
    expect(jsonTextProblem(numbers(values + 1))).toBe("The JSON contains more than 300000 values.");
  });

  test("brackets in JSON strings and comments don't count toward the depth", () => {
    const brackets = "[".repeat(40);
    for (const text of [
      `"${brackets}"`,
      `"\\"${brackets}"`,
      `["a\\\\", "${brackets}"]`,
      `// ${brackets}\n1`,
      `/* ${brackets}\n */ 1`,
      `1 // ${brackets}`,
      `1 /* ${brackets}`,
      `"${brackets}`,
      // Brackets beside each other are not inside of each other, and one too many that closes opens nothing.
      `[${many(100, "[[]]")}]`,
      `]]]]${deep(32)}`,
    ])
      expect([text, jsonTextProblem(text)]).toEqual([text, null]);
    for (const text of [`"a" / ${brackets}`, `// c\n${brackets}`, `/* c */${brackets}`, `"\\\\"${brackets}`])
      expect([text, jsonTextProblem(text)]).toEqual([text, "The JSON is nested deeper than 32 levels."]);
  });

  test("JSON keys are counted per object", () => {
    const half = keys(1500);
    expect(jsonTextProblem(`[${half}, ${half}]`)).toBeNull();
    expect(jsonTextProblem(`{"a": ${half}, "b": ${half}}`)).toBeNull();
    expect(jsonTextProblem(`{"a": ${half}, ${keys(2000).slice(1)}`)).toBe(
      "An object has more than 2000 keys.",
    );
  });
});

test("byte order marks and code fences around a file's text are removed", () => {
  expect(unwrapText("plain")).toBe("plain");
  expect(unwrapText("\uFEFFplain")).toBe("plain");
  expect(unwrapText("```json\n{}\n```")).toBe("{}\n");
  expect(unwrapText("  ```\na\n```\n")).toBe("a\n");
  expect(unwrapText("\uFEFF```\na\n```")).toBe("a\n");
  expect(unwrapText("```no break```")).toBe("```no break```");
  expect(unwrapText("```")).toBe("```");
  expect(unwrapText("```\n")).toBe("```\n");
  expect(unwrapText("``` a\nb")).toBe("``` a\nb");
  expect(unwrapText("a ```\nb\n```")).toBe("a ```\nb\n```");
});

test("a clean copy drops prototype keys and reports each of them", () => {
  const findings = new Findings();
  const value = JSON.parse(
    '{"a": [{"__proto__": 1, "b": null}], "constructor": {}, "prototype": 1}',
  ) as unknown;
  expect(cleanCopy(value, findings, "file")).toEqual({ value: { a: [{ b: null }] } });
  expect(findings.list.map(({ level, at, message }) => [level, at, message])).toEqual([
    ["dropped", "file.a.0.__proto__", '"__proto__" is a reserved word and was left out.'],
    ["dropped", "file.constructor", '"constructor" is a reserved word and was left out.'],
    ["dropped", "file.prototype", '"prototype" is a reserved word and was left out.'],
  ]);
  const nested = (levels: number, around: (inner: unknown) => unknown) =>
    Array.from({ length: levels }).reduce<unknown>((inner) => around(inner), 1);
  for (const around of [(inner: unknown) => [inner], (inner: unknown) => ({ inner })]) {
    expect(cleanCopy(nested(MAX_DEPTH, around), findings)).toEqual({ value: nested(MAX_DEPTH, around) });
    expect(cleanCopy(nested(MAX_DEPTH + 1, around), findings)).toBeNull();
  }
});

describe("lenient reading", () => {
  const schema = z.object({
    name: z.string("A name is text"),
    tags: z.array(z.string("A tag is text.")).optional(),
    inner: z.object({ n: z.number("This is a number") }).optional(),
  });
  const read = (value: unknown, at = "file") => {
    const findings = new Findings();
    const found = readLeniently(schema, value, at, findings);
    return [found, findings.list.map(({ level, at: place, message }) => `${level} ${place}: ${message}`)];
  };

  test.each([
    [{ name: "a", tags: ["b"] }, { name: "a", tags: ["b"] }, []],
    [
      { name: "a", tags: ["b", 1, "c", 2] },
      { name: "a", tags: ["b", "c"] },
      [
        'dropped file.tags.1: "tags.1" was left out: A tag is text.',
        'dropped file.tags.2: "tags.2" was left out: A tag is text.',
      ],
    ],
    [{ name: "a", tags: null, extra: null }, { name: "a" }, []],
    [
      { name: "a", inner: { n: "x" } },
      { name: "a" },
      [
        'dropped file.inner.n: "inner.n" was left out: This is a number.',
        'dropped file.inner: "inner" was left out: This is a number.',
      ],
    ],
    [
      { name: "a", extra: 1, inner: { n: 1, more: [2], none: undefined } },
      { name: "a", inner: { n: 1 } },
      [
        'dropped file.extra: Unknown field "extra" was left out.',
        'dropped file.inner.more: Unknown field "more" was left out.',
      ],
    ],
    [
      { name: 5 },
      null,
      [
        'dropped file.name: "name" was left out: A name is text.',
        "dropped file: file can't be read: A name is text.",
      ],
    ],
    [{}, null, ["dropped file: file can't be read: A name is text."]],
    [
      { name: "a", tags: Array.from({ length: 60 }, () => 1) },
      null,
      [
        ...Array.from({ length: 50 }, () => 'dropped file.tags.0: "tags.0" was left out: A tag is text.'),
        "dropped file: file has too many errors to be read.",
      ],
    ],
  ])("lenient reading of %j keeps the valid parts", (value, expected, findings) => {
    expect(read(value)).toEqual([expected, findings]);
  });

  test("a finding without a location refers to the whole file", () => {
    expect(read({}, "")).toEqual([null, ["dropped : This can't be read: A name is text."]]);
    expect(read({ name: "a", extra: 1 }, "")[1]).toEqual([
      'dropped extra: Unknown field "extra" was left out.',
    ]);
  });
});

test("at most 200 findings are kept, plus all errors, each with its location", () => {
  const findings = new Findings();
  expect([findings.hasError(), findings.all()]).toEqual([false, []]);
  findings
    .under("a")
    .of((at) => ({ file: `of ${at}` }))
    .info("b", "first");
  findings.under("a").under("b").changed("c", "second", "node_1");
  findings.under("a").under("").dropped("", "third");
  expect(findings.all()).toEqual([
    { level: "info", at: "b", message: "first", file: "of b" },
    { level: "changed", at: "a.b.c", message: "second", node_id: "node_1" },
    { level: "dropped", at: "a", message: "third" },
  ]);
  for (let n = 0; n < 200; n++) findings.keeps("x", `${n}`);
  findings.error("y", "an error");
  expect(findings.list).toHaveLength(201);
  expect(findings.hasError()).toBe(true);
  expect(findings.all().at(-1)).toEqual({
    level: "info",
    at: "",
    message: "3 more findings not shown.",
  });
});

test("a field alias is renamed unless the field already has another value", () => {
  const renamed = (raw: Record<string, unknown>) => {
    renameField(raw, ["name", "title", "label"]);
    return raw;
  };
  expect(renamed({ title: "t", other: 1 })).toEqual({ name: "t", other: 1 });
  expect(renamed({ label: "l", title: "t" })).toEqual({ name: "t", label: "l" });
  expect(renamed({ name: "n", title: "n" })).toEqual({ name: "n" });
  expect(renamed({ name: "n", title: "t" })).toEqual({ name: "n", title: "t" });
  expect(renamed({ name: undefined, label: "l" })).toEqual({ name: "l" });
  expect(renamed({ other: 1 })).toEqual({ other: 1 });
  expect(withoutNulls({ a: null, b: 0, c: undefined, d: "" })).toEqual({ b: 0, c: undefined, d: "" });
});

test("a message, code and reason are read from any thrown value", () => {
  const error = new TypeError("broken");
  expect([errorMessage(error), errorMessage("text"), errorMessage(null)]).toEqual(["broken", "text", "null"]);
  expect(errorCode({ code: "ENOENT" })).toBe("ENOENT");
  expect(errorCode({ code: 5 })).toBeUndefined();
  expect(errorCode("ENOENT")).toBeUndefined();
  expect(errorCode(null)).toBeUndefined();
  expect(reasonOf(AbortSignal.abort(error))).toBe(error);
  expect(reasonOf(AbortSignal.abort("enough"))).toEqual(new Error("enough"));
});
