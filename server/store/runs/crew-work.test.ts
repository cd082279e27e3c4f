import { expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { draw } from "@/server/domain/testing/drawing";
import { BinStore } from "../library/bin";
import { WorkflowStore } from "../workflows";
import { newCrewWorkStore } from "./crew-work";

const graphOf = (crew: string | undefined, ...agents: [agent_id: string, role_name: string][]) =>
  draw("start > crew > end", {
    crew: {
      node_type: "crew_task",
      output_keys: ["result"],
      config: {
        plan_description_template: "the goal",
        ...(crew === undefined ? {} : { crew_id_or_config_ref: crew }),
        crew: { agents: agents.map(([agent_id, role_name]) => ({ agent_id, role_name })) },
      },
    },
  });
const did = (agent_id: string, role_name: string, done: number, failed = 0, sent_back = 0, crew_id = "") => ({
  node_id: "crew",
  crew_id,
  agent_id,
  role_name,
  done,
  failed,
  sent_back,
});
const real = (workflow_id: string | null) => ({ workflow_id, simulated: false });

function newStore() {
  const db = emptyDb();
  return { db, store: newCrewWorkStore(db), workflows: new WorkflowStore(db) };
}

test("results are counted per agent of a workflow and per role across workflows", () => {
  const { store } = newStore();
  store.add(real("wf_1"), [did("ann", "Writer", 3, 1), did("bob", "Checker", 1)]);
  store.add(real("wf_1"), [did("ann", "Writer", 2, 0, 1)]);
  store.add(real("wf_2"), [did("ann", "Writer", 10)]);
  store.add(real(null), [did("ann", "Writer", 100)]);
  const graph = graphOf(undefined, ["ann", "Writer"], ["cat", "Writer"], ["bob", "Cook"]);
  const role = { done: 115, failed: 1, sent_back: 1 };
  expect(store.past(real("wf_1"), graph)).toEqual([
    {
      node_id: "crew",
      agent_id: "ann",
      role_name: "Writer",
      own: { done: 5, failed: 1, sent_back: 1 },
      role,
    },
    { node_id: "crew", agent_id: "cat", role_name: "Writer", role },
  ]);
  // A run of no workflow that is kept has no agents that were there before.
  expect(store.past(real(null), graphOf(undefined, ["ann", "Writer"]))).toEqual([
    { node_id: "crew", agent_id: "ann", role_name: "Writer", role },
  ]);
});

test("a member of a library crew keeps its results in every workflow", () => {
  const { store } = newStore();
  store.add(real("wf_1"), [did("ann", "Writer", 3, 1, 0, "press")]);
  expect(store.past(real("wf_2"), graphOf("press", ["ann", "Writer"]))).toMatchObject([
    { own: { done: 3, failed: 1, sent_back: 0 } },
  ]);
  expect(store.past(real("wf_2"), graphOf("other", ["ann", "Writer"]))[0]).not.toHaveProperty("own");
});

test("results with simulated and real models are counted separately", () => {
  const { store } = newStore();
  store.add({ workflow_id: "wf_1", simulated: true }, [did("ann", "Writer", 3)]);
  const graph = graphOf(undefined, ["ann", "Writer"]);
  expect(store.past(real("wf_1"), graph)).toEqual([]);
  expect(store.past({ workflow_id: "wf_1", simulated: true }, graph)).toHaveLength(1);
});

test("a workflow without a crew has no results", () => {
  expect(newStore().store.past(real("wf_1"), draw("start > a > end"))).toEqual([]);
});

test("results are deleted when their workflow is purged, by hand or by age", () => {
  const { db, store, workflows } = newStore();
  const graph = graphOf(undefined, ["ann", "Writer"]);
  const [emptied, outlived, kept] = ["a", "b", "c"].map((name) => {
    const id = workflows.create({ name, graph });
    store.add(real(id), [did("ann", "Writer", 1)]);
    return id;
  }) as [string, string, string];
  const all = () => store.past(real(kept), graph)[0]?.role?.done;
  workflows.remove(emptied);
  expect(all()).toBe(3);
  new BinStore(db).purge("workflow", emptied);
  expect(all()).toBe(2);
  workflows.remove(outlived);
  expect(workflows.purge(Number.MAX_SAFE_INTEGER)).toBe(1);
  expect(all()).toBe(1);
});

test("a renamed role keeps its results", () => {
  const { store, workflows } = newStore();
  store.add(real("wf_1"), [did("ann", "Writer", 3), did("ann", "Author", 1)]);
  workflows.renameRole("Writer", "Author");
  expect(store.past(real("wf_1"), graphOf(undefined, ["ann", "Author"]))).toMatchObject([
    { own: { done: 4 }, role: { done: 4 } },
  ]);
  expect(store.past(real("wf_1"), graphOf(undefined, ["ann", "Writer"]))).toEqual([]);
});
