import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import type { NodeBase, NodeContext } from "./define";
import { schemaParts } from "./schema-parts";
import { shout } from "./testing/shout";

const ROOT = path.resolve(import.meta.dirname, "../../..");
const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8");

test("the example in docs/extending.md matches the tested node kind", () => {
  const [, example] = /```ts\n(import \{ defineNode[\s\S]*?)```/.exec(read("docs/extending.md")) ?? [];
  expect(example?.replace("./define", "../define")).toBe(read("server/domain/nodes/testing/shout.ts"));
});

test("the example node converts text to upper case and declares its output key", () => {
  const config = shout.config(schemaParts).parse({});
  const node = { output_keys: [] } as unknown as NodeBase;
  expect(shout.writes?.(config, node)).toEqual(["text"]);
  const flow = shout.run?.(config, { state: { text: "hello" } } as unknown as NodeContext);
  expect(flow?.next().value).toEqual({ output: { text: "HELLO" } });
});
