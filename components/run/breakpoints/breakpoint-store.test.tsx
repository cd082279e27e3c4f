import { expect, test } from "vitest";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { breakpointLimits, breakpointTitle } from "./breakpoint-labels";
import { breakpointsFor, newBreakpointStore } from "./breakpoint-store";
import { describeBreakpoint, newCanvasBreakpoints } from "./canvas-breakpoints";

const graph = WorkflowGraph.parse({
  graph_id: "loop",
  start_node_id: "start",
  nodes: {
    start: { id: "start", node_type: "start", name: "Start", config: {} },
    inc: { id: "inc", node_type: "wait", name: "Count up", config: { seconds: 0 } },
    done: { id: "done", node_type: "end", name: "Done", config: {} },
  },
  edges: [
    { id: "e1", source_node_id: "start", target_node_id: "inc" },
    { id: "e2", source_node_id: "inc", target_node_id: "done" },
  ],
});

test("clicking a node toggles its breakpoint, and the browser stores it", () => {
  localStorage.clear();
  const store = newBreakpointStore("wf");
  expect(store.toggle({ kind: "node", id: "inc" })).toBe("set");
  expect(store.toggle({ kind: "edge", id: "e2" })).toBe("set");
  expect(newBreakpointStore("wf").getState().list).toEqual([
    { id: "b1", on: "node_start", node_id: "inc" },
    { id: "b2", on: "edge", edge_id: "e2" },
  ]);
  expect(newBreakpointStore("another").getState().list).toEqual([]);
  expect(store.toggle({ kind: "node", id: "inc" })).toBe("removed");
  expect(
    newBreakpointStore("wf")
      .getState()
      .list.map(({ id }) => id),
  ).toEqual(["b2"]);
});

test("a run receives the enabled breakpoints whose targets exist", () => {
  localStorage.clear();
  const store = newBreakpointStore("wf");
  const inc = store.add({ on: "node_start", node_id: "inc" });
  store.set(inc, { condition: "state.n == 2", hit_count: 3 });
  const off = store.add({ on: "error" });
  store.set(off, { enabled: false });
  store.add({ on: "node_end", node_id: "gone" });
  expect(breakpointsFor(store.getState().list, graph)).toEqual([
    { on: "node_start", node_id: "inc", condition: "state.n == 2", hit_count: 3 },
  ]);
  store.setAll(true);
  expect(breakpointsFor(store.getState().list, graph).map(({ on }) => on)).toEqual(["node_start", "error"]);
});

test("invalid stored breakpoints are ignored", () => {
  localStorage.setItem("troupe.breakpoints.wf", '{"on": "node_start"}');
  expect(newBreakpointStore("wf").getState().list).toEqual([]);
  localStorage.setItem("troupe.breakpoints.wf", '[{"id": "b1"}, {"id": "b2", "on": "error"}, 3]');
  expect(newBreakpointStore("wf").getState().list).toEqual([{ id: "b2", on: "error" }]);
});

test("a card shows whether its breakpoint is unconditional, conditional or disabled", () => {
  localStorage.clear();
  const store = newBreakpointStore("wf");
  const marks = newCanvasBreakpoints(
    store,
    () => graph,
    (place) => void store.toggle(place),
  );
  expect(marks.node("inc")).toBeUndefined();
  marks.toggle({ kind: "node", id: "inc" });
  const plain = marks.node("inc");
  expect(plain).toEqual({ variant: "plain", text: "Before Count up" });
  expect(marks.node("inc")).toBe(plain);
  store.set("b1", { condition: "state.n == 2" });
  expect(marks.node("inc")).toEqual({ variant: "conditional", text: "Before Count up, if state.n == 2" });
  store.set("b1", { enabled: false });
  expect(marks.node("inc")).toEqual({ variant: "disabled", text: "Before Count up, if state.n == 2 (off)" });
  store.add({ on: "node_end", node_id: "inc" });
  expect(marks.node("inc")?.variant).toBe("plain");
});

test.each([
  [{ on: "node_start" }, "Before each node"],
  [{ on: "tool_call", tool: "http_read", node_id: "inc" }, "Before a call to http_read in Count up"],
  [{ on: "state_write", key: "n" }, "When n is written"],
  [{ on: "loop_iteration", node_id: "inc" }, "At each iteration of the loop at Count up"],
  [{ on: "edge", edge_id: "e2" }, "On the connection from Count up to Done"],
  [{ on: "node_start", node_id: "gone" }, "Before a deleted node"],
] as const)("breakpoint %j has the title %s", (breakpoint, expected) => {
  expect(breakpointTitle(breakpoint, graph)).toBe(expected);
});

test("a breakpoint's condition and hit count follow its location", () => {
  expect(breakpointLimits({ on: "error", condition: "state.n > 1", hit_count: 2 })).toBe(
    "if state.n > 1, starting at hit 2",
  );
  expect(describeBreakpoint({ id: "b1", on: "error", hit_count: 1 }, graph)).toBe("At an error");
});
