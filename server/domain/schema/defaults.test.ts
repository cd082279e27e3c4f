import { expect, test } from "vitest";
import type { JsonSchema } from "@/server/domain/base/values";
import { readSchema } from "./schema";

test("equal schemas are compiled once", () => {
  const first = readSchema({ type: "string", title: "made once" });
  expect(readSchema({ type: "string", title: "made once" })).toBe(first);
  expect(readSchema({ type: "string", title: "made otherwise" })).not.toBe(first);
  for (let n = 0; n < 250; n++) readSchema({ const: `other ${n}` });
  expect(readSchema({ type: "string", title: "made once" })).not.toBe(first);
});

test.each<[JsonSchema, unknown, unknown]>([
  [{ properties: { a: { default: 1 } } }, { a: undefined }, { a: 1 }],
  [{ properties: { a: { default: 1 } } }, { a: 2, b: 3 }, { a: 2, b: 3 }],
  [{ properties: { a: { default: 1 } } }, "text", "text"],
  [{ properties: { a: { default: 1 } } }, [{}], [{}]],
  [{ properties: { a: {} } }, {}, {}],
  [
    { properties: { a: { default: { b: 1 }, properties: { c: { default: 2 } } } } },
    {},
    { a: { b: 1, c: 2 } },
  ],
  [
    { allOf: [{ properties: { a: { default: 1 } } }, { properties: { b: { default: 2 } } }] },
    {},
    { a: 1, b: 2 },
  ],
  [{ anyOf: [{ properties: { a: { default: 1 } } }] }, {}, {}],
  [{ items: { properties: { a: { default: 1 } } } }, [{}, { a: 2 }, 3], [{ a: 1 }, { a: 2 }, 3]],
  [{ prefixItems: [{ properties: { a: { default: 1 } } }] }, [{}], [{}]],
  [
    { properties: { me: { $ref: "#" }, a: { default: 1 } } },
    { me: { me: {} } },
    { me: { me: { a: 1 }, a: 1 }, a: 1 },
  ],
  [{ $ref: "#", properties: { a: { default: 1 } } }, {}, {}],
])(
  "defaults are filled in where they apply to every value: %j turns %j into %j",
  (schema, value, expected) => {
    expect(readSchema(schema).withDefaults(value)).toEqual(expected);
  },
);

test("each value gets its own copy of a default", () => {
  const schema = readSchema({ properties: { a: { default: { list: [] } } } });
  const [one, other] = [schema.withDefaults({}), schema.withDefaults({})] as { a: { list: unknown[] } }[];
  one?.a.list.push(1);
  expect(other).toEqual({ a: { list: [] } });
});
