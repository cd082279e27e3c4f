import fc from "fast-check";
import { Liquid } from "liquidjs";
import { describe, expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import { sized } from "@/server/testing/thorough";
import {
  asTemplate,
  checkTemplate,
  missingKeys,
  renderTemplate,
  TemplateError,
  templateKeys,
  templateReads,
} from "./template";

const render = (text: string, state: Record<string, Json> = {}, input?: Record<string, Json>) =>
  renderTemplate(text, input ? { state, input } : { state });

describe("rendering", () => {
  test("a template reads a key from the input, then from the state, and else renders nothing", () => {
    expect(render("{{a}} {{ b }}|{{c}}|", { a: "state", b: "state" }, { a: "input" })).toBe("input state||");
  });

  test("a default in a template may be another value", () => {
    expect(render("{{ nobody | default: other.name }}", { other: { name: "Ada" } })).toBe("Ada");
    expect(templateReads("{{ a | default: b.c }}").map(({ key, optional }) => [key, optional])).toEqual([
      ["a", true],
      ["b", false],
    ]);
    expect(
      missingKeys("{{ a | default: b }} {{ c | default: d }} {{ l | join: e }}", { state: { c: 1, l: [] } }),
    ).toEqual(["b", "e"]);
  });

  test("a rendered value is never parsed as a template again", () => {
    const value = "{{secret}} {% raw %} {{ state.secret | json }}";
    expect(render("{{a}}", { a: value, secret: "s3cret" })).toBe(value);
  });

  test("a template can read only own properties of plain data", () => {
    const state = Object.assign(Object.create({ inherited: "no" }), { o: {}, s: "text", l: [1] }) as Record<
      string,
      Json
    >;
    for (const path of [
      "constructor",
      "constructor.constructor",
      "__proto__",
      "o.__proto__",
      "o.constructor.name",
      "s.constructor",
      "s.length",
      "l.constructor",
      "l.length",
      "l.map",
      "inherited",
      "toString",
      "state.__proto__",
      "state.toString",
    ])
      expect([path, render(`{{${path}}}`, state)]).toEqual([path, ""]);
  });

  test("a template that takes too much work is stopped with its place", () => {
    const state = { big: "x".repeat(2_000_000), list: Array.from({ length: 200_000 }, (_, i) => i) };
    for (const part of [
      "{{ big | upper | truncate: 1 }}",
      "{{ list | json | truncate: 1 }}",
      "{{ list | join: big | size }}",
      "{{ big | replace: 'x', 'yyyyyyyy' | size }}",
      "{{ list | truncate: 1 }}",
    ])
      expect([part, () => render(part.repeat(100), state)]).toEqual([
        part,
        expect.toSatisfy((go: () => void) => {
          try {
            go();
          } catch (error) {
            return error instanceof TemplateError && error.message.includes(`At: ${part.slice(0, 80)}`);
          }
          return false;
        }),
      ]);
    expect(render("{{ big | upper | size }}", state)).toBe("2000000");
    expect(render("{{ big | size }} {{ list | size }} {{ list.last }}", state)).toBe("2000000 200000 199999");
  });

  test("a template whose output grows too large is stopped", () => {
    const state = { big: "x".repeat(1_000_000) };
    expect(() => render("{{big}}".repeat(5), state)).toThrow(TemplateError);
  });
});

describe("checking", () => {
  test("a template with an error is not rendered", () => {
    expect(() => render("{{ a | shout }}", { a: "x" })).toThrow(TemplateError);
  });

  test("the keys of a template are listed once, with their places", () => {
    expect(
      templateKeys("{{a}} {{b.c}} {{a | upper}} {{state.d}} {{'text'}} {{ input.e | default: 1 }}"),
    ).toEqual(["a", "b", "d", "e"]);
    expect(templateReads("Hi {{ b.c | default: 'x' }}")).toEqual([
      { key: "b", path: ["b", "c"], from: 6, to: 9, optional: true },
    ]);
  });

  test("missing values are reported unless the template has a default", () => {
    expect(
      missingKeys("{{a}} {{b}} {{c.d}} {{e | default: 'x'}} {{n}}", { state: { a: 0, c: {}, n: null } }),
    ).toEqual(["b", "c.d", "n"]);
  });

  test("any text is parsed without throwing, in a single pass", () => {
    const piece = fc.constantFrom(
      "{{",
      "}}",
      "a",
      ".",
      "|",
      " ",
      "default",
      ":",
      "'",
      '"',
      "[",
      "]",
      "0",
      "-",
      "{%",
      "%}",
      "\n",
      "ä",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const text = pieces.join("");
        for (const { from, to } of checkTemplate(text)) {
          expect(from).toBeGreaterThanOrEqual(0);
          expect(to).toBeGreaterThanOrEqual(from);
          expect(to).toBeLessThanOrEqual(text.length);
        }
        if (checkTemplate(text).length === 0) render(text, { a: "A" });
      }),
      { numRuns: sized(700, 5000) },
    );
    // Each of these was looked for to the end of the text.
    expect(checkTemplate("{{".repeat(30_000))).toHaveLength(1);
    expect(checkTemplate("{{ a | default: '".repeat(3000))).toHaveLength(1);
  });
});

describe("comparison with Liquid", () => {
  const liquid = new Liquid({
    strictFilters: true,
    ownPropertyOnly: true,
    templates: {},
    outputEscape: (value) =>
      value !== null && typeof value === "object" ? JSON.stringify(value) : String(value ?? ""),
  });
  const key = fc.constantFrom("a", "b", "c_d", "user_request");
  const path = fc
    .tuple(
      key,
      fc.array(fc.constantFrom(".a", ".b", "[0]", "[-1]", '["b"]', ".first", ".last", ".size"), {
        maxLength: 2,
      }),
    )
    .map(([k, rest]) => k + rest.join(""));
  const filter = fc.constantFrom(
    "",
    " | upcase",
    " | downcase",
    " | strip",
    " | truncate: 5",
    ' | default: "none"',
    " | default: b",
    " | json",
    " | join: ', '",
    " | replace: 'a', 'bb'",
    " | last",
    " | size",
  );
  const output = fc
    .tuple(fc.constantFrom("{{", "{{ ", "{{- "), path, filter, fc.constantFrom("}}", " }}", " -}}"))
    .map((parts) => parts.join(""));
  const template = fc
    .array(fc.oneof(output, fc.constantFrom("text ", " x", "\n", "}", "ä ", "'")), { maxLength: 8 })
    .map((parts) => parts.join(""));
  const leaf = fc.oneof(fc.constantFrom("", "  Ada ", "a longer text", "{{a}}"), fc.integer(), fc.boolean());
  const value = fc.oneof(
    leaf,
    fc.record({ a: leaf, b: fc.array(leaf, { maxLength: 2 }) }, { requiredKeys: [] }),
    fc.array(leaf, { maxLength: 3 }),
  );
  const state = fc.dictionary(key, value, { maxKeys: 4 }) as fc.Arbitrary<Record<string, Json>>;

  test("a template renders the same text and reads the same keys as in Liquid", () => {
    fc.assert(
      fc.property(template, state, (text, values) => {
        expect(checkTemplate(text)).toEqual([]);
        const parsed = liquid.parse(text);
        expect([...templateKeys(text)].sort()).toEqual(
          [...new Set(liquid.globalVariableSegmentsSync(parsed).map(([first]) => String(first)))].sort(),
        );
        // A missing value as JSON is null here and nothing there.
        if (text.includes("json") && render(text, values).includes("null")) return;
        // Liquid's filters for text cannot print objects.
        const prints = /\| (upcase|downcase|strip|truncate|join|replace|size)/.test(text);
        if (prints && Object.values(values).some((value) => typeof value === "object")) return;
        // An empty object counts as nothing for "default" here, as for Liquid's own Ruby; the library prints it.
        const holdsEmpty = (value: Json): boolean =>
          value !== null &&
          typeof value === "object" &&
          ((!Array.isArray(value) && Object.keys(value).length === 0) ||
            Object.values(value).some(holdsEmpty));
        if (text.includes("default") && Object.values(values).some(holdsEmpty)) return;
        // Liquid takes [0] of a text for its first letter.
        const holdsText = (value: Json): boolean =>
          typeof value === "string" ||
          (value !== null && typeof value === "object" && Object.values(value).some(holdsText));
        if (/\[-?\d\]|first|last/.test(text) && Object.values(values).some(holdsText)) return;
        const theirs = liquid.renderSync(parsed, values) as string;
        expect(render(text, values)).toBe(theirs);
      }),
      { numRuns: sized(200, 2000) },
    );
  });
});

test("a text escaped as a template renders to itself", () => {
  const text = fc.string({ unit: fc.constantFrom("{", "}", "%", "-", '"', "'", "a", " ", "\n", "|", ".") });
  fc.assert(fc.property(text, (given) => renderTemplate(asTemplate(given), { state: {} }) === given));
});
