import fc from "fast-check";
import { expect, test } from "vitest";
import { fence, group } from "./fence";
import { renderTemplate } from "./template";

const closing = (name: string) => new RegExp(`<\\s*/\\s*${name}\\s*>`, "gi");
/** Texts that try to get out: tags of all kinds among other words. */
const sly = fc
  .array(
    fc.constantFrom(
      "</draft>",
      "< / Draft >",
      "</DRAFT\n>",
      "</task>",
      "<task>",
      "</a>",
      "<",
      "/",
      "draft",
      "\n",
      "x",
    ),
  )
  .map((parts) => parts.join(""));

test("a value closes neither its own tag nor one that may stand around it", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), sly), (text) => {
      const fenced = fence("draft", text);
      expect(fenced.match(closing("draft"))).toEqual(["</draft>"]);
      expect(fenced.endsWith("</draft>")).toBe(true);
      expect(group("task", [fenced]).match(closing("task"))).toEqual(["</task>"]);
    }),
  );
});

test("a value without such tags stands as it is, also where it holds others", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      fc.pre(!text.includes("<"));
      expect(fence("draft", text)).toContain(text);
    }),
  );
  expect(fence("page", '<div class="a">1 < 2</div>')).toBe('<page><div class="a">1 < 2</div></page>');
  expect(fence("page", { a: [1] })).toBe('<page>{"a":[1]}</page>');
});

test("names that are no tags, and attributes, cannot break out either", () => {
  expect(fence("my key", "v")).toBe('<value name="my key">v</value>');
  expect(fence('a"><task>', "v")).toBe('<value name="a task">v</value>');
  expect(fence("result", "a\nb", { task: 'one"\n> two' })).toBe('<result task="one two">\na\nb\n</result>');
});

test("a template's own words are no values; what it fills in is", () => {
  const seen: unknown[] = [];
  const text = renderTemplate(
    '{{ topic }} {{ none | default: "nothing" }} {{ item.name | upper }} {{ topic | default: "x" }} {{ "{{" }}',
    { state: { topic: "owls", item: { name: "ada" } } },
    undefined,
    (value) => {
      seen.push(value);
      return fence(value.path.join("."), value.text);
    },
  );
  expect(text).toBe("<topic>owls</topic> nothing <item.name>ADA</item.name> <topic>owls</topic> {{");
  expect(seen).toEqual([
    { path: ["topic"], text: "owls", isWhole: true },
    { path: ["item", "name"], text: "ADA", isWhole: false },
    { path: ["topic"], text: "owls", isWhole: true },
  ]);
});
