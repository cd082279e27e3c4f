import { expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import { WORK_LIMITS, Work } from "@/server/domain/base/work-budget";
import { checkTemplate, renderTemplate } from "./template";
import { MAX_TEMPLATE_LENGTH } from "./template-parser";

const state: Record<string, Json> = {
  a: "A",
  b: "B",
  "a-b": "A-B",
  "a-": "dash",
  trueish: "t",
  n: 1.5,
  s: "x.x",
  yes: true,
  no: false,
  zero: 0,
  nothing: null,
  e: "",
  el: [],
  eo: {},
  o: { b: "B", "c d": "C", 0: "zero" },
  sized: { size: "own" },
  list: [1, "two", { x: 1 }],
  mixed: [null, true, [1], "t"],
  long: "abcdefghij".repeat(6),
  smile: "a😀bcdef",
  day: "2026-01-05",
  seconds: 1767600429,
};
const now = Date.parse("2026-01-05T08:00:00Z");
const render = (text: string, work = new Work()) =>
  renderTemplate(text, { state, input: { a: "IN" }, now }, work);

test.each([
  ["{{a-}} x", "INx"],
  ["{{ a-}}  x", "INx"],
  ["{{a-b}}", "A-B"],
  ["{{ a- }}x", "dashx"],
  ["{{ o.b-}}  x", "Bx"],
  ["x  {{-a-}}  y", "xINy"],
  ["x  {{- a -}}  y", "xINy"],
  ["x  {{ a }}  y", "x  IN  y"],
  ["{{ true }} {{ false }} {{ null }}|{{ nil }}|{{ trueish }}", "true false ||t"],
  [
    "{{ none | default: true }} {{ none | default: false }} {{ none | default: null }}|{{ none | default: nil }}|",
    "true false ||",
  ],
  [
    "{{ none | default: -1.50 }} {{ none | default: 2 }} {{ none | default: 'x\"y' }} {{ none | default: \"x'y\" }}",
    "-1.5 2 x\"y x'y",
  ],
  ["{{ 3.0 }} {{ 3.0 | size }} {{3.0-}} x {{ 3.00   }} {{ 3.10 }} {{ '3.0' }}", "3.0 0 3.0x 3.0 3.1 3.0"],
  [
    "{{ o[\"b\"] }} {{ o['c d'] }} {{ list[0] }} {{ list[-1] }} {{ list.1 }} {{ o[0] }}",
    'B C 1 {"x":1} two zero',
  ],
  [
    "{{ s | join: '\\n' }}|{{ list | join: \"\\n\" }}|{{ list | join: \"\\t\" }}|{{ list | join: '\\r' }}|{{ none | default: '\\n' }}",
    'x.x|1\ntwo\n{"x":1}|1\ttwo\t{"x":1}|1\\rtwo\\r{"x":1}|\\n',
  ],
  ["{{ list | replace: ',', '\\n' }}", '[1\n"two"\n{"x":1}]'],
  ["{{a}}{{b}}{{ a }}", "INBIN"],
  ["{{ list[9] }}|{{ list[-9] }}|{{ '{{' }}x}}|{{ 0.0 }}", "||{{x}}|0.0"],
  ["{{\n  a\n  |\n  upper\n}}", "IN"],
  ["{{ a|upper|lower }}", "in"],
  [
    "{{ a | truncate: 1, '' }} {{ long | truncate }} {{ long | truncate: 3 }} {{ long | truncate: 2 }} {{ long | truncate: 60 }} {{ long | truncate: 59 }} {{ long | truncate: '5' }}",
    "I abcdefghijabcdefghijabcdefghijabcdefghijabcdefg... ... ... abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghij abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdef... ab...",
  ],
  [
    "{{ smile | truncate: 4 }} {{ smile | truncate: 5 }} {{ smile | truncate: 1, '' }} {{ smile | truncate: 2, '' }}",
    "a... a... a a",
  ],
  ["{{ long | truncate: n }}", "..."],
  [
    "{{ list | size }} {{ o | size }} {{ s | size }} {{ n | size }} {{ none | size }} {{ yes | size }}",
    "3 3 3 0 0 0",
  ],
  ["{{ list | first }} {{ s | first }}| {{ o | first }}| {{ list | last }}", '1 | | {"x":1}'],
  [
    "{{ o.size }} {{ sized.size }} {{ s.size }} {{ s.x }}| {{ n.size }}| {{ yes.x }}| {{ o.none.x }}| {{ nothing.x }}|",
    "3 own 3 | | | | |",
  ],
  [
    "{{ state.a }} {{ input.a }} {{ state.none }}| {{ input }}| {{ state }}| {{ other.a }}| {{ state.o.b }} {{ state.o.c.d }}|",
    "A IN | | | | B |",
  ],
  [
    "{{ e | default: 1 }} {{ el | default: 2 }} {{ eo | default: 3 }} {{ zero | default: 4 }} {{ no | default: 5 }} {{ s | default: 6 }} {{ nothing | default: 7 }} {{ list | default: 8 }}",
    '1 2 3 0 5 x.x 7 [1,"two",{"x":1}]',
  ],
  [
    "{{ o | upper }} {{ n | upper }} {{ yes | lower }} {{ nothing | upper }}| {{ ' a ' | trim }}|",
    '{"0":"ZERO","B":"B","C D":"C"} 1.5 true | a|',
  ],
  ["{{ a | json }} {{ none | json }} {{ nothing | json }} {{ n | json }}", '"IN" null null 1.5'],
  [
    "{{ list | join }} {{ list | join: n }} {{ el | join }}| {{ s | join }} {{ nothing | join }}| {{ mixed | join: '-' }}",
    '1 two {"x":1} 11.5two1.5{"x":1} | x.x | -true-[1]-t',
  ],
  [
    "{{ s | replace: 'x' }} {{ s | replace: 'x', 'y' }} {{ s | replace: '', '-' }} {{ n | replace: '.', ',' }} {{ s | replace: nothing, 'y' }}",
    ". y.y -x-.-x- 1,5 yxy.yxy",
  ],
  [
    "{{ day | date: '%F' }} {{ seconds | date: '%F' }} {{ s | date: '%F' }} {{ yes | date: '%F' }} {{ nothing | date: '%F' }}| {{ list | date: '%F' }}",
    '2026-01-05 2026-01-05 x.x true | [1,"two",{"x":1}]',
  ],
  ["{{ 'now' | date: '%F' }} {{ 'today' | date: '%F' }} {{ now | date: '%F' }}|", "2026-01-05 2026-01-05 |"],
  ["a }} b", "a }} b"],
  ["{ {a} }", "{ {a} }"],
  ["{{ a | truncate: 1, 'x' }}", "x"],
  ["{{ a | truncate: true }}", "..."],
  ["{{ a | date: b }}", "IN"],
])("a template renders its values: %j", (text, expected) => {
  expect(render(text)).toBe(expected);
});

test.each<[string, ...[says: string, at: string][]]>([
  [
    "{{ list.first }} {{ list.last }} {{ list.size }} {{ list.x }}| {{ list[9] }}| {{ list.1x }}",
    ["Only filters can", "{{ list.1x }}"],
  ],
  ["{% if a %}", ["Tags like {% if %} are not supported. Use a router for decisions, and ", "{% if a %}"]],
  ["x {% if a", ["Tags like {% if %} are not supported. Use a router for decisions, and ", "{% if a"]],
  [
    "{{ a }}{% x %}{{ b }}",
    ["Tags like {% if %} are not supported. Use a router for decisions, and ", "{% x %}"],
  ],
  ["{{ a", ['This "{{" is never closed. Add "}}".', "{{"]],
  ["{{", ['This "{{" is never closed. Add "}}".', "{{"]],
  ["{{}}", ["Enter a value, for example {{ user_request }}.", "{{}}"]],
  ["{{ }}", ["Enter a value, for example {{ user_request }}.", "{{ }}"]],
  ["{{- }}", ["Enter a value, for example {{ user_request }}.", "{{- }}"]],
  ["{{ -}}", ['A name must start with a letter, not "-".', "{{ -}}"]],
  ["{{{ a }}}", ["Use two braces, {{ key }}, not three.", "{{{ a }}"]],
  ["{{ ä }}", ['A name must start with a letter, not "ä".', "{{ ä }}"]],
  ["{{ .a }}", ['A name must start with a letter, not ".".', "{{ .a }}"]],
  ["{{ 1a }}", ['Only filters can follow a value, for example {{ name | default: "you"', "{{ 1a }}"]],
  ["{{ a. }}", ["Add a name after the dot, for example {{ result.title }}.", "{{ a. }}"]],
  ["{{ a..b }}", ["Add a name after the dot, for example {{ result.title }}.", "{{ a..b }}"]],
  ["{{ a.-1 }}", ["Add a name after the dot, for example {{ result.title }}.", "{{ a.-1 }}"]],
  ["{{ a[ }}", ["Put a number or quoted text in [ ], for example {{ list[0] }}.", "{{ a[ }}"]],
  ["{{ a[0 }}", ["Put a number or quoted text in [ ], for example {{ list[0] }}.", "{{ a[0 }}"]],
  ["{{ a[b] }}", ["Put a number or quoted text in [ ], for example {{ list[", "{{ a[b] }}"]],
  ["{{ a[true] }}", ["Put a number or quoted text in [ ], for example {{ list[", "{{ a[true] }}"]],
  ["{{ 'x }}", ['A name must start with a letter, not "\'".', "{{ 'x }}"]],
  ["{{ a b }}", ['Only filters can follow a value, for example {{ name | default: "you"', "{{ a b }}"]],
  ["{{ a 'b' }}", ["Only filters can follow a value, for example {{ name | default:", "{{ a 'b' }}"]],
  ["{{ a | }}", ["Add the name of a filter after |.", "{{ a | }}"]],
  ["{{ a | | upper }}", ["Add the name of a filter after |.", "{{ a | | upper }}"]],
  ["{{ a | shout }}", ['There is no filter "shout". Available: json, upper, lower, trim,', "shout }}"]],
  ["{{ a | constructor }}", ['There is no filter "constructor".', "constructor }}"]],
  ["{{ a | upper: 1 }}", ['"upper" takes no value after a colon.', "upper: 1 }}"]],
  ["{{ a | upper: }}", ['Add a number, quoted text or the name of a value after "upper:".', "upper: }}"]],
  ["{{ a | default }}", ['"default" needs a value, for example default: "none".', "default }}"]],
  ["{{ a | default: 1, 2 }}", ['"default" takes at most 1 values.', "default: 1, 2 }}"]],
  ["{{ a | default: b. }}", ["Add a name after the dot, for example {{ result.title", "default: b. }}"]],
  ["{{ a | truncate: 1, 2, 3 }}", ['"truncate" takes at most 2 values.', "truncate: 1, 2, 3 }}"]],
  ["{{ a | truncate: 'x' }}", ["truncate takes a number of characters.", "truncate: 'x' }}"]],
  ["{{ a | date }}", ['"date" needs a value, for example date: "none".', "date }}"]],
  ["{{ a | date: 5 }}", ['date doesn\'t support "5". Write, for example, date: "%Y-%m-%d', "date: 5 }}"]],
  ["{{ a | date: '%Q' }}", ['date doesn\'t support "%Q". Write, for example, date:', "date: '%Q' }}"]],
  [
    "{{ a | replace: }}",
    ['Add a number, quoted text or the name of a value after "replace:".', "replace: }}"],
  ],
  [
    "{{ä}} {{b}} {{c |}} {{d}}",
    ["A name must start with a letter, not", "{{ä}}"],
    ["Add the name of a filter after |", "{{c |}}"],
  ],
  ["{{ä}} {{ b", ["A name must start with a letter, not", "{{ä}}"], ['This "{{" is never closed.', "{{"]],
])("each error in a template is reported with its place: %j", (text, ...faults) => {
  expect(checkTemplate(text).map(({ message, from, to }) => [message, text.slice(from, to)])).toEqual(
    faults.map(([says, at]) => [expect.stringContaining(says), at]),
  );
});

test("a template may be as long as the limit, but not longer", () => {
  const most = "x".repeat(MAX_TEMPLATE_LENGTH);
  expect(checkTemplate(most)).toEqual([]);
  expect(checkTemplate(`${most}x`)).toEqual([
    { message: "A template can have at most 65,536 characters. Shorten this one.", from: 65_536, to: 65_537 },
  ]);
});

test("the work of a filter is counted before it runs", () => {
  const units = (text: string) => {
    const work = new Work();
    render(text, work);
    return WORK_LIMITS.units - work.remaining;
  };
  const templates = [
    "{{ a }} and {{ long }}",
    "{{ list }}",
    "{{ long | upper }}",
    "{{ long | trim }}",
    "{{ long | size | json }}",
    "{{ mixed | join: '---------------------------------' }}",
    "{{ day | date: '%F' }}",
    "{{ long | replace: 'a', 'bcd' }}",
  ];
  expect(templates.map(units)).toEqual([0, 4, 18, 14, 21, 37, 17, 33]);
});
