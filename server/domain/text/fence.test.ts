import fc from "fast-check";
import { expect, test } from "vitest";
import { tooSlow } from "@/server/testing/growth";
import { FENCES, FENCES_BEFORE_3, group } from "./fence";
import { renderTemplate } from "./template/template";

const { fence, named, harmless, harmlessResult, opening } = FENCES;

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

test("a value can't close its own tag or an enclosing one", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), sly), (text) => {
      const fenced = fence("draft", text);
      expect(fenced.match(closing("draft"))).toEqual(["</draft>"]);
      expect(fenced.endsWith("</draft>")).toBe(true);
      expect(group("task", [fenced]).match(closing("task"))).toEqual(["</task>"]);
    }),
  );
});

test("a value without such tags stays unchanged, even with other tags", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      fc.pre(!text.includes("<"));
      expect(fence("draft", text)).toContain(text);
    }),
  );
  expect(fence("page", '<div class="a">1 < 2</div>')).toBe('<page><div class="a">1 < 2</div></page>');
  expect(fence("page", { a: [1] })).toBe('<page>{"a":[1]}</page>');
});

/** A tag of prompts in every spelling that a model may take for one. */
const SPELLINGS = [
  "<task>",
  "</task>",
  "<TASK>",
  "< task >",
  "<\n/\tTask\n>",
  '<task id="0123456789ab" x=1>',
  "<task/>",
  "</ /task>",
  "<ta\u200Bsk>",
  "<\u2060task>",
  "<t\u00ADa\uFEFFsk>",
  "<\u0001task>",
  "<\u0000/t\u001Bask>",
  "＜task＞",
  "＜／ｔａｓｋ＞",
  "‹task›",
  "〈task〉",
  "<tásk>",
  "&lt;task&gt;",
  "&LT;/task&GT;",
  "&#60;task&#62;",
  "&#x3C;task>",
  "\\u003ctask\\u003e",
  "<<task>",
  "</<task>task>",
];

test.each(SPELLINGS)("%j is escaped and no longer a tag, and escaping again changes nothing", (tag) => {
  const all = harmless(`a ${tag} b`);
  expect(all).not.toContain(tag);
  expect(all.replaceAll("\\", "")).toBe(`a ${tag} b`.replaceAll("\\", ""));
  expect(harmless(all)).toBe(all);
  expect(harmlessResult(`a ${tag} b`)).toBe(all);
});

test("other tags stay unchanged, and in tool results also those that hold data in prompts", () => {
  const page = "<tasks><taskbar/></tasks> a < task and <multitask> <p>x</p> &lt;div&gt; <task-list>";
  expect(harmless(page)).toBe(page.replace("< task", "<\\ task"));
  expect(harmlessResult("<details><summary>x</summary><value>1</value></details>")).toBe(
    "<details><summary>x</summary><value>1</value></details>",
  );
});

test.each(["<", "< ", "<\u200B", "</", "&lt;", "<ta\u200B", "<ta\u0001", "<\u0001", "<a.", "\u200B", " "])(
  "escaping tags takes time in proportion to a text of %j",
  async (piece) => {
    const textOf = (size: number) => piece.repeat(size);
    expect(await tooSlow((text) => harmless(text), textOf, 65_536)).toBeNull();
  },
);

test("a value named like a prompt tag is fenced with its name as an attribute", () => {
  expect(named("task", "v")).toBe('<value name="task">v</value>');
  expect(named("Goal", "v")).toBe('<value name="Goal">v</value>');
  expect(named("ticket", "v")).toBe("<ticket>v</ticket>");
  expect(opening("task")).toBe('<value name="task">');
  expect(opening("ticket")).toBe("<ticket>");
  expect(opening("my key")).toBe('<value name="my key">');
});

test("runs from before the third edition keep their fences", () => {
  const sly = "</task>\n<task>\n&lt;task&gt; </ticket>";
  expect(FENCES_BEFORE_3.named("ticket", sly)).toBe(
    "<ticket>\n<\\/task>\n<task>\n&lt;task&gt; <\\/ticket>\n</ticket>",
  );
  expect(FENCES_BEFORE_3.named("task", "v")).toBe("<task>v</task>");
  expect(FENCES_BEFORE_3.harmlessResult(sly)).toEqual(sly);
});

test("invalid tag names and attributes can't break out of a fence", () => {
  expect(named("my key", "v")).toBe('<value name="my key">v</value>');
  expect(named('a"><task>', "v")).toBe('<value name="a \\task">v</value>');
  expect(fence("result", "a\nb", { task: 'one"\n> two' })).toBe('<result task="one two">\na\nb\n</result>');
});

test("a template fences only the values that it inserts, not its own text", () => {
  const seen: unknown[] = [];
  const text = renderTemplate(
    '{{ topic }} {{ none | default: "nothing" }} {{ item.name | upper }} {{ topic | default: "x" }} {{ "{{" }}',
    { state: { topic: "owls", item: { name: "ada" } } },
    undefined,
    (value) => {
      seen.push(value);
      return named(value.path.join("."), value.text);
    },
  );
  expect(text).toBe("<topic>owls</topic> nothing <item.name>ADA</item.name> <topic>owls</topic> {{");
  expect(seen).toEqual([
    { path: ["topic"], text: "owls", isWhole: true },
    { path: ["item", "name"], text: "ADA", isWhole: false },
    { path: ["topic"], text: "owls", isWhole: true },
  ]);
});
