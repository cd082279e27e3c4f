import { expect, test } from "vitest";
import { draw } from "@/server/domain/testing/drawing";
import { capabilityLines } from "./capability-lines";

test("each capability is listed with the nodes and roles that ask for it", () => {
  const { nodes } = draw("start > a > b > end", { a: { name: "Look it up" }, b: { name: "" } });
  const where = [
    { node_id: "a" },
    { node_id: "b", role: "Reader" },
    { role: "Guest" },
    { node_id: "gone" },
    { node_id: "a" },
  ];
  expect(capabilityLines([{ key: "tool:search", kind: "tool", name: "search", where }], { nodes })).toEqual([
    "tool    search  <-  Look it up, b (as Reader), role Guest, gone",
  ]);
  expect(capabilityLines([], { nodes })).toEqual([
    "It uses no tools, hosts, named models, programs or persistent memory.",
  ]);
});
