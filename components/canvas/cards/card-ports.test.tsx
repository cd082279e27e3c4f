import { render, screen } from "@testing-library/react";
import { ReactFlowProvider } from "@xyflow/react";
import { expect, test } from "vitest";
import { portsIn } from "@/components/forms/ports";
import { must } from "@/server/domain/base/must";
import { draw } from "@/server/domain/testing/drawing";
import { CanvasContext, type CanvasEditing } from "../canvas-context";
import { Ports } from "./card-ports";

const graph = draw("start > decide; decide approved> yes", {
  decide: { node_type: "conditional_router", config: { kind: "value", value: "state.status" } },
});
const node = must(graph.nodes, "decide");

function showPorts(editing: CanvasEditing | null) {
  render(
    <ReactFlowProvider>
      <CanvasContext value={{ editing, roles: new Map(), agents: new Map() }}>
        <Ports node={node} ports={portsIn(graph, node)} />
      </CanvasContext>
    </ReactFlowProvider>,
  );
  return screen.getAllByRole("listitem").map(({ textContent }) => textContent);
}

test("a value router offers another route in the editor", () => {
  expect(showPorts({} as CanvasEditing)).toEqual(["approved", "another route"]);
});

test("a value router shows only its existing routes in a run", () => {
  expect(showPorts(null)).toEqual(["approved"]);
});
