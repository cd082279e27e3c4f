import { expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import type { NewEvent } from "./events";
import { StateReads } from "./state-reads";
import { completed, created, fold, logOf, of, ready, started } from "./testing";

const agent = {
  node_type: "agent_task",
  config: { required_role: "Writer", task_description_template: "Write about {{topic}}" },
};
const graph = draw("start > a > end", { a: agent });
const begin = [created(graph), ready("start"), started("start"), completed("start"), ready("a")];
const patched = (set: JsonObject) => of("start", "state_patched", { set, writer: "start" });
/** The keys that nodes have read of those that are about to change. */
const readBy = (...events: NewEvent[]) => {
  const reads = new StateReads();
  for (const event of logOf(events)) reads.note(event, event.seq);
  return reads
    .readersOf(fold(...events), { set: { topic: "ducks" }, remove: [] })
    .map(({ activation, keys }) => [activation.node_id, keys]);
};

test("a running node has read the values written before it began", () => {
  expect(readBy(...begin, patched({ topic: "geese" }), started("a"))).toEqual([["a", ["topic"]]]);
});
test("a node has not read a value written after it began", () => {
  expect(readBy(...begin, started("a"), patched({ topic: "geese" }))).toEqual([]);
});
test("another value written after a node began doesn't change what it has read", () => {
  expect(readBy(...begin, started("a"), patched({ other: 1 }))).toEqual([["a", ["topic"]]]);
});
test("a value that stays the same has no readers", () => {
  expect(readBy(...begin, patched({ topic: "ducks" }), started("a"))).toEqual([]);
});
test("a node that hasn't begun has read nothing", () => {
  expect(readBy(...begin, patched({ topic: "geese" }))).toEqual([]);
});
test.each([
  ["sets", { set: { topic: "geese" }, remove: [] }],
  ["removes", { set: {}, remove: ["topic"] }],
])("a node that began before a person %s a value has not read it", (_, change) => {
  const edited: NewEvent = { type: "state_edited", payload: { ...change, words: [], by: "ann" } };
  expect(readBy(...begin, patched({ topic: "ducks" }), started("a"), edited)).toEqual([]);
});
