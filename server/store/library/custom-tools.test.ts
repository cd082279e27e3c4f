import { beforeEach, expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { CustomToolDefinition } from "@/server/domain/tool/custom-tool";
import { CustomToolStore } from "./custom-tools";

const tool = (name: string, code: string) =>
  CustomToolDefinition.parse({ name, description: "Does it", code });
let store: CustomToolStore;
let clock = 0;
beforeEach(() => {
  clock = 1000;
  store = new CustomToolStore(emptyDb(), () => clock++);
});

test("every save of a custom tool is a version, and the newest is used", () => {
  expect(store.save(tool("b", "return 1"), null)).toEqual({ saved: true, version: 1 });
  expect(store.save(tool("b", "return 2"), 1)).toEqual({ saved: true, version: 2 });
  expect(store.save(tool("a", "return 0"), null)).toEqual({ saved: true, version: 1 });
  expect(store.list().map(({ definition, version }) => [definition.name, version])).toEqual([
    ["a", 1],
    ["b", 2],
  ]);
  expect(store.find("b")?.definition).toEqual(tool("b", "return 2"));
  expect(store.versions("b").map(({ version }) => version)).toEqual([2, 1]);
});

test("a stale save is rejected, and an identical one creates no version", () => {
  store.save(tool("a", "return 1"), null);
  expect(store.save(tool("a", "return 9"), null)).toEqual({ saved: false, reason: "name_taken" });
  store.save(tool("a", "return 2"), 1);
  expect(store.save(tool("a", "return 3"), 1)).toEqual({ saved: false, reason: "stale" });
  expect(store.save(tool("a", "return 2"), 2)).toEqual({ saved: true, version: 2 });
  expect(store.save(tool("gone", "return 2"), 4)).toEqual({ saved: false, reason: "stale" });
});

test("restoring an older version makes it the newest", () => {
  store.save(tool("a", "return 1"), null);
  store.save(tool("a", "return 2"), 1);
  expect(store.restoreVersion("a", 1)).toBe(3);
  expect(store.find("a")).toMatchObject({ version: 3, definition: { code: "return 1" } });
  expect(store.restoreVersion("a", 7)).toBeUndefined();
});

test("a removed custom tool can be restored until the trash is emptied", () => {
  store.save(tool("a", "return 1"), null);
  expect([store.remove("a"), store.remove("a")]).toEqual([true, false]);
  expect([store.list(), store.find("a")]).toEqual([[], undefined]);
  expect(store.bin().map(({ definition }) => definition.name)).toEqual(["a"]);
  expect(store.restore("a")).toBe(true);
  expect([store.find("a")?.version, store.bin()]).toEqual([1, []]);

  store.remove("a");
  // A new tool by that name keeps the old one's versions within reach.
  expect(store.save(tool("a", "return 2"), null)).toEqual({ saved: true, version: 2 });
  expect(store.bin()).toEqual([]);
  store.remove("a");
  expect(store.purge(clock + 1)).toBe(1);
  expect([store.versions("a"), store.restore("a")]).toEqual([[], false]);
});
