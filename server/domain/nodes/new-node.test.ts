import { expect, test } from "vitest";
import { nodeKinds } from ".";
import { newNode } from "./new-node";
import { WorkflowNode } from "./schemas";

test.each(nodeKinds.map(({ type }) => type))(
  "a new %s says all that has a standard, as a file without it would be read",
  (type) => {
    const made = newNode(type, { id: "it" });
    const { id, name, output_keys, config } = made;
    expect(WorkflowNode.parse({ id, name, output_keys, config, node_type: type })).toEqual(made);
  },
);
