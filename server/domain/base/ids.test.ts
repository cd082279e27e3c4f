import fc from "fast-check";
import { expect, test } from "vitest";
import { freshEdgeId, freshId, freshNodeId, newId, toId } from "./ids";
import { Id } from "./values";

test("new IDs are unique, valid and prefixed with their kind", () => {
  const ids = Array.from({ length: 1000 }, () => newId("wf"));
  expect(new Set(ids).size).toBe(1000);
  for (const id of ids) expect(id).toMatch(/^wf_[0-9a-hjkmnp-tv-z]{20}$/);
  expect(Id.safeParse(newId("run")).success).toBe(true);
});

test("fresh IDs take the first free number", () => {
  expect(freshNodeId("agent_task", [])).toBe("agent_task");
  expect(freshNodeId("agent_task", { agent_task: 1, agent_task_3: 1 })).toBe("agent_task_2");
  expect(freshEdgeId(["edge_1", "edge_3"])).toBe("edge_2");
  const long = "x".repeat(64);
  expect(freshId(long, new Set([long]))).toBe(`${"x".repeat(62)}_2`);
});

test("any text becomes a valid ID or an empty string", () => {
  expect(
    ["Get approval!", "1 first", "_own", "Über Grenzen", "__proto__", "constructor", "…"].map(toId),
  ).toEqual(["Get_approval", "first", "_own", "Uber_Grenzen", "proto", "constructor_", ""]);
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 100 }), (text) => {
      const id = toId(text);
      expect(id === "" || Id.safeParse(id).success).toBe(true);
    }),
  );
});
