import { screen, waitFor } from "@testing-library/react";
import { type ReactNode, useState } from "react";
import { beforeEach, expect, test, vi } from "vitest";
import { useStore } from "zustand";
import { openPage } from "@/components/testing/page";
import { must } from "@/server/domain/base/must";
import type { JsonObject } from "@/server/domain/base/values";
import { WorkflowGraph } from "@/server/domain/graph/graph";
import { cardResult, newCanvasTries, staleReason } from "./canvas-tries";
import { RunNodeDialog } from "./run-node-dialog";
import { makeOf, newTryOutStore, pinsFor, type TryOutStore } from "./try-out-store";
import { TryWatcher } from "./try-watcher";

const graph = WorkflowGraph.parse({
  graph_id: "two",
  start_node_id: "start",
  nodes: {
    start: { id: "start", node_type: "start", name: "Start", config: {}, output_keys: ["topic"] },
    draft: {
      id: "draft",
      node_type: "transform",
      name: "Draft",
      config: { set: { text: '"a"' } },
      output_keys: ["text"],
    },
    check: {
      id: "check",
      node_type: "transform",
      name: "Check",
      config: { set: { ok: "true" } },
      input_keys: ["text"],
      output_keys: ["ok"],
    },
  },
  edges: [
    { id: "e1", source_node_id: "start", target_node_id: "draft" },
    { id: "e2", source_node_id: "draft", target_node_id: "check" },
  ],
});
const make = (id: string) => makeOf(must(graph.nodes, id));
const tried = { at: 100, input: { text: "one" }, output: { ok: true }, made_of: make("check") };

beforeEach(() => localStorage.clear());

test("pins are stored per workflow, and a run receives those whose nodes exist", () => {
  const store = newTryOutStore("wf");
  store.pin("check", tried);
  store.pin("gone", tried);
  const again = newTryOutStore("wf").getState();
  expect(pinsFor(again.pins, graph)).toEqual({ check: { output: { ok: true } } });
  expect(newTryOutStore("another").getState()).toEqual({ pins: {}, tries: {}, last: {} });
  store.unpin("check");
  expect(Object.keys(newTryOutStore("wf").getState().pins)).toEqual(["gone"]);
});

test("unreadable stored data is ignored", () => {
  localStorage.setItem("troupe.tried.wf", '{"pins": {"a": 3, "b": {"at": 1}}, "tries": []}');
  expect(newTryOutStore("wf").getState()).toEqual({ pins: {}, tries: {}, last: {} });
});

test("an output is stale after its node or input changed, or a predecessor ran again", () => {
  const nothing = { pins: {}, tries: {} };
  const draftGave = (text: string, at: number) => ({
    pins: {},
    tries: {
      draft: {
        run_id: "r",
        status: "completed" as const,
        at,
        input: {},
        output: { text },
        made_of: make("draft"),
      },
    },
  });
  expect(staleReason("check", tried, graph, nothing)).toBeNull();
  expect(staleReason("check", tried, graph, draftGave("one", 50))).toBeNull();
  expect(staleReason("check", tried, graph, draftGave("two", 200))).toBe("Its input text has changed since");
  expect(staleReason("check", tried, graph, draftGave("one", 200))).toBe(
    "Draft, an upstream node, has run again since",
  );
  const moved = structuredClone(graph);
  Object.assign(must(moved.nodes, "check"), { name: "Judge", ui: { x: 8, y: 8 } });
  expect(staleReason("check", tried, moved, nothing)).toBeNull();
  Object.assign(must(moved.nodes, "check"), { config: { set: { ok: "false" } } });
  expect(staleReason("check", tried, moved, nothing)).toBe("The node has been edited since");
});

/** Shows what is known only once it is shown. */
const Late = ({ children }: { children: () => ReactNode }) => children();

function Trying({
  id,
  store,
  graph: of = graph,
  isDirect = false,
}: {
  id: string;
  store: TryOutStore;
  graph?: WorkflowGraph;
  isDirect?: boolean;
}) {
  const [isOpen, setOpen] = useState(true);
  const one = useStore(store, ({ tries }) => tries.check);
  const props = { workflowId: id, graph: of, node: must(of.nodes, "check"), store };
  return (
    <>
      {isOpen ? (
        <RunNodeDialog
          {...props}
          isDirect={isDirect}
          beforeStart={() => Promise.resolve(true)}
          onClose={() => setOpen(false)}
        />
      ) : null}
      {one?.status === "running" ? (
        <TryWatcher {...props} nodeId="check" name="Check" one={one} onAnnounce={announce} />
      ) : null}
    </>
  );
}
const announce = vi.fn();

test("a form of its inputs runs a node alone, and its card shows the result", async () => {
  const store = newTryOutStore("wf");
  let id = "";
  const { ask, person, show } = openPage(<Late>{() => <Trying id={id} store={store} />}</Late>);
  ({ id } = await ask.workflows.create({ name: "Two", graph }));
  show();
  const run = await screen.findByRole("button", { name: "Try this node" });
  await person.click(run);
  await screen.findByText("Required.");
  expect(store.getState().tries).toEqual({});
  await person.type(screen.getByRole("textbox", { name: /text/i }), "one");
  await person.click(run);
  await waitFor(() => expect(store.getState().tries.check?.status).toBe("completed"), { timeout: 5_000 });
  expect(store.getState().tries.check).toMatchObject({ input: { text: "one" }, output: { ok: true } });
  expect(announce).toHaveBeenCalledWith("Check finished");
  expect(cardResult(store.getState(), graph, "check")).toEqual({
    from: "try",
    status: "completed",
    summary: "Yes",
    stale: null,
  });
});

test("a key used only in an expression is requested and prefilled from the last run", async () => {
  const doubling = WorkflowGraph.parse({
    graph_id: "doubling",
    start_node_id: "start",
    nodes: {
      start: { id: "start", node_type: "start", name: "Start", config: {}, output_keys: ["amount"] },
      check: {
        id: "check",
        node_type: "transform",
        name: "Double",
        config: { set: { amount: "state.amount * 2" } },
        output_keys: ["amount"],
      },
      end: { id: "end", node_type: "end", name: "End", config: {} },
    },
    edges: [
      { id: "e1", source_node_id: "start", target_node_id: "check" },
      { id: "e2", source_node_id: "check", target_node_id: "end" },
    ],
  });
  const store = newTryOutStore("wf");
  let id = "";
  const { ask, person, show } = openPage(
    <Late>{() => <Trying id={id} store={store} graph={doubling} />}</Late>,
  );
  ({ id } = await ask.workflows.create({ name: "Doubling", graph: doubling }));
  const { run_id } = await ask.runs.start({ workflow_id: id, input: { amount: 21 } });
  await waitFor(async () => expect((await ask.runs.get({ run_id })).status).toBe("finished"), {
    timeout: 5_000,
  });
  show();
  await screen.findByDisplayValue("21");
  await person.click(screen.getByRole("button", { name: "Try this node" }));
  await waitFor(() => expect(store.getState().tries.check?.output).toEqual({ amount: 42 }), {
    timeout: 5_000,
  });
});

const doubling = (factor: number) =>
  WorkflowGraph.parse({
    graph_id: "doubling",
    start_node_id: "start",
    nodes: {
      start: { id: "start", node_type: "start", name: "Start", config: {}, output_keys: ["amount"] },
      check: {
        id: "check",
        node_type: "transform",
        name: "Double",
        config: { set: { total: `state.amount * ${factor}` } },
        output_keys: ["total"],
      },
      end: { id: "end", node_type: "end", name: "End", config: {} },
    },
    edges: [
      { id: "e1", source_node_id: "start", target_node_id: "check" },
      { id: "e2", source_node_id: "check", target_node_id: "end" },
    ],
  });

type Ask = ReturnType<typeof openPage>["ask"];

async function runThrough(ask: Ask, workflow_id: string, amount: number) {
  const { run_id } = await ask.runs.start({ workflow_id, input: { amount } });
  await waitFor(async () => expect((await ask.runs.get({ run_id })).status).toBe("finished"), {
    timeout: 5_000,
  });
  return run_id;
}

test("a node is tried with the inputs of its last run, without a dialog", async () => {
  const store = newTryOutStore("wf");
  let id = "";
  const { ask, show } = openPage(
    <Late>{() => <Trying id={id} store={store} graph={doubling(2)} isDirect />}</Late>,
  );
  ({ id } = await ask.workflows.create({ name: "Doubling", graph: doubling(2) }));
  await runThrough(ask, id, 21);
  show();
  await waitFor(() => expect(store.getState().tries.check?.output).toEqual({ total: 42 }), {
    timeout: 5_000,
  });
  expect(screen.queryByRole("dialog")).toBeNull();
});

test("trying a node that never ran asks for its inputs", async () => {
  const store = newTryOutStore("wf");
  let id = "";
  const { ask, show } = openPage(<Late>{() => <Trying id={id} store={store} isDirect />}</Late>);
  ({ id } = await ask.workflows.create({ name: "Two", graph }));
  show();
  expect(await screen.findByRole("dialog", { name: "Try Check" })).toBeTruthy();
  expect(store.getState().tries).toEqual({});
});

test("last results come from the newest run that reached a node and become stale after edits", async () => {
  const { ask } = openPage(null);
  const { id } = await ask.workflows.create({ name: "Doubling", graph: doubling(2) });
  await runThrough(ask, id, 1);
  const run_id = await runThrough(ask, id, 21);
  // A node that ran alone is no run of the workflow.
  await ask.runs.startNode({ workflow_id: id, node_id: "check", state: { amount: 5 } });
  const check = async () =>
    (await ask.runs.lastResults({ workflow_id: id })).find(({ node_id }) => node_id === "check");
  expect(await check()).toMatchObject({ run_id, status: "completed", output: { total: 42 }, stale: null });
  await ask.workflows.save({ id, name: "Doubling", graph: doubling(3), revision: 1 });
  expect(await check()).toMatchObject({ output: { total: 42 }, stale: "It has been edited since." });
});

test("a card shows the newer of try and last run, and prefers a pin", () => {
  const store = newTryOutStore("wf");
  const last = { ...tried, run_id: "r1", status: "completed" as const, stale: null };
  store.setLast({ check: last });
  const shown = () => cardResult(store.getState(), graph, "check");
  expect(shown()).toMatchObject({ from: "run", summary: "Yes", stale: null });
  store.put("check", { ...last, run_id: "r2", at: 50 });
  expect(shown()?.from).toBe("run");
  store.put("check", { ...last, run_id: "r3", at: 150, output: { ok: false } });
  expect(shown()).toMatchObject({ from: "try", summary: "No" });
  store.pin("check", tried);
  expect(shown()?.from).toBe("pin");
  expect(newTryOutStore("wf").getState().last).toEqual({});
});

test("a card recomputes its result only if its node, connections or results change", () => {
  const store = newTryOutStore("wf");
  store.setLast({ check: { ...tried, run_id: "r1", status: "completed", stale: null } });
  let drawn = graph;
  const tries = newCanvasTries(
    store,
    { graph: () => drawn, subscribe: () => () => undefined },
    { canTry: () => true, tryNode: () => undefined },
  );
  const first = tries.node("check");
  expect(first).toMatchObject({ summary: "Yes", stale: null });
  expect(tries.node("check")).toBe(first);
  const check = { ...must(graph.nodes, "check"), input_keys: [] };
  drawn = { ...graph, nodes: { ...graph.nodes, check } };
  expect(tries.node("check")?.stale).toBe("The node has been edited since");
  store.setLast({});
  expect(tries.node("check")).toBeUndefined();
});

test("trying an earlier node makes a last result stale only if its output differs", () => {
  const store = newTryOutStore("wf");
  const at = (id: string, when: number, output: JsonObject) => ({
    ...tried,
    run_id: "r",
    status: "completed" as const,
    stale: null,
    at: when,
    output,
    made_of: make(id),
  });
  store.setLast({ draft: at("draft", 90, { text: "one" }), check: at("check", 100, { ok: true }) });
  const stale = () => cardResult(store.getState(), graph, "check")?.stale;
  store.put("draft", at("draft", 200, { text: "one" }));
  expect(stale()).toBeNull();
  store.put("draft", at("draft", 300, { text: "two" }));
  expect(stale()).toBe("Its input text has changed since");
});
