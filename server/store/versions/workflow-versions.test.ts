import { expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { RoleDefinition } from "@/server/domain/agent/role";
import { draw } from "@/server/domain/testing/drawing";
import { WorkflowStore } from "../workflows";
import { newWorkflowVersions } from "./workflow-versions";

const graph = draw("start > ask > end", {
  ask: { node_type: "agent_task", config: { required_role: "Writer" } },
});
const roles = ["Writer", "Critic"].map((name) => RoleDefinition.parse({ name }));
const content = { graph, roles, withheld: ["tool:a", "host:b"], foreign: { texts: [3, 1], allowed: [] } };
const about = { name: "Letters", note: "First", by: "session:ann" };

function newStage() {
  const db = emptyDb();
  const workflows = new WorkflowStore(db);
  return {
    workflows,
    versions: newWorkflowVersions(db, () => 7),
    id: workflows.create({ name: "Letters", graph }),
  };
}

test("a version is returned as it was published", () => {
  const { versions, id } = newStage();
  expect(versions.newest(id)).toBeUndefined();
  expect(versions.publish(id, { ...content, ...about })).toEqual({ number: 1, created: true });
  const summary = { number: 1, ...about, tests: null, created_at: 7 };
  expect(versions.list(id)).toEqual([summary]);
  expect(versions.newest(id)).toEqual({ ...summary, ...content });
  expect(versions.find(id, 2)).toBeUndefined();
});

test("publishing the newest version once more changes nothing, whatever the order of its parts", () => {
  const { versions, id } = newStage();
  versions.publish(id, { ...content, ...about });
  const same = {
    graph: { ...graph, nodes: Object.fromEntries(Object.entries(graph.nodes).reverse()) },
    roles: roles.toReversed(),
    withheld: content.withheld.toReversed(),
    foreign: { texts: [1, 3], allowed: [] },
  };
  expect(versions.publish(id, { ...same, ...about, note: "Again" })).toEqual({ number: 1, created: false });
  expect(versions.publish(id, { ...content, ...about, withheld: [] })).toEqual({ number: 2, created: true });
  // An older one is published again as a new version.
  expect(versions.publish(id, { ...content, ...about })).toEqual({ number: 3, created: true });
  expect(versions.list(id).map(({ number }) => number)).toEqual([3, 2, 1]);
});

test("renaming a role changes the draft and no published version", () => {
  const { versions, workflows, id } = newStage();
  versions.publish(id, { ...content, ...about });
  workflows.renameRole("Writer", "Author");
  expect(workflows.find(id)!.graph.nodes.ask!.config).toMatchObject({ required_role: "Author" });
  expect(versions.newest(id)).toMatchObject(content);
});
