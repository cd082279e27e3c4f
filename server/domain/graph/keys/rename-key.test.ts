import { describe, expect, test } from "vitest";
import { settingsOf } from "@/server/domain/nodes";
import { draw } from "@/server/domain/testing/drawing";
import { renameKey } from "./rename-key";

describe("renaming a key in a workflow that runs others", () => {
  const graph = draw("start > sub > m > end; x", {
    start: { output_keys: ["topic"] },
    sub: {
      node_type: "sub_workflow",
      config: { workflow_id: "wf_1", input: { topic: "state.topic" } },
      output_keys: ["topic", "summary"],
    },
    m: { node_type: "map", config: { items: "state.list", node: "x", input: { topic: "item" } } },
    x: { config: { set: { x: "state.topic" } } },
  });

  test("keeps the inputs and outputs of the other workflow, and maps them to the new key", () => {
    const { sub } = renameKey(graph, "topic", "subject").nodes;
    expect(sub && settingsOf(sub).input).toEqual({ topic: "state.subject" });
    expect(sub?.output_keys).toEqual(["topic", "summary"]);
    expect(sub?.output_mapping).toEqual({ subject: "output.topic", summary: "output.summary" });
  });

  test("renames what a node on the canvas is given for each item", () => {
    const { m, x } = renameKey(graph, "topic", "subject").nodes;
    expect(m && settingsOf(m).input).toEqual({ subject: "item" });
    expect(x && settingsOf(x).set).toEqual({ x: "state.subject" });
  });
});
