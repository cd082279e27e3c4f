import { beforeEach, expect, test } from "vitest";
import type { Db } from "@/db/open";
import { emptyDb } from "@/db/testing";
import { AgentConfig, RoleDefinition } from "@/server/domain/agent/role";
import { CrewConfig } from "@/server/domain/crew/crew";
import { roleUses } from "@/server/domain/library/role-use";
import { templates } from "@/server/templates";
import { WorkflowStore } from "../workflows";
import { newAgentStore } from "./agents";
import { newCrewStore } from "./crews";
import { RoleStore } from "./roles";

const role = (name: string, description = "") => RoleDefinition.parse({ name, description });
let db: Db;
let store: RoleStore;
beforeEach(() => {
  db = emptyDb();
  store = new RoleStore(db, () => 1000);
});

test("roles are listed by name and keep every field", () => {
  const full = RoleDefinition.parse({
    name: "writer",
    goals: ["clear"],
    responsibilities: ["write"],
    tools: ["search"],
    output_schema: { type: "object", properties: { text: { type: "string" } } },
    system_prompt_template: "You are {{ role.name }}.",
    color: "plum",
    icon: "pen-line",
  });
  store.create(role("Zoe"));
  store.create(full);
  expect(store.all()).toEqual([full, role("Zoe")]);
  expect(store.find("writer")).toEqual({ role: full, revision: 1, builtin: false, updated_at: 1000 });
});

test("role names are unique", () => {
  expect(store.create(role("A", "first"))).toBe(true);
  expect(store.create(role("A", "second"))).toBe(false);
  store.create(role("B"));
  expect(store.save("B", 1, role("A"))).toEqual({ saved: false, reason: "name_taken" });
  expect(store.find("A")?.role.description).toBe("first");
});

test("a save on an old revision is rejected with the newer one", () => {
  store.create(role("A"));
  expect(store.save("A", 1, role("A", "mine"))).toEqual({
    saved: true,
    revision: 2,
    renamed_in: { workflows: 0, crews: 0, agents: 0 },
  });
  expect(store.save("A", 1, role("A", "theirs"))).toMatchObject({
    saved: false,
    reason: "stale",
    current: { revision: 2, role: { description: "mine" } },
  });
  expect(store.save("A", 2, role("Anna"))).toEqual({
    saved: true,
    revision: 3,
    renamed_in: { workflows: 0, crews: 0, agents: 0 },
  });
  expect(store.find("A")).toBeUndefined();
  expect(store.save("A", 3, role("A"))).toEqual({ saved: false, reason: "gone" });
});

test("built-in roles are added once, updated until a person edits them, and stay deleted", () => {
  store.create(role("Mine", "my own"));
  store.seed([role("Writer", "v1"), role("Critic", "v1"), role("Mine", "theirs")]);
  expect(
    store.list().map(({ role: { name, description }, builtin }) => [name, description, builtin]),
  ).toEqual([
    ["Critic", "v1", true],
    ["Mine", "my own", false],
    ["Writer", "v1", true],
  ]);
  store.save("Writer", 1, role("Writer", "changed by hand"));
  store.remove("Mine");
  store.seed([role("Writer", "v2"), role("Critic", "v2"), role("Mine", "v2"), role("Fresh", "v2")]);
  expect(store.list().map(({ role: { name, description } }) => [name, description])).toEqual([
    ["Critic", "v2"],
    ["Fresh", "v2"],
    ["Writer", "changed by hand"],
  ]);
});

test("putting a role adds or replaces it", () => {
  store.put(role("A", "one"));
  store.put(role("A", "two"));
  expect(store.find("A")).toMatchObject({ revision: 2, role: { description: "two" } });
});

test("renaming a role renames it in workflows, crews and agents", () => {
  const workflows = new WorkflowStore(db);
  const id = workflows.create({ name: "Approval", graph: templates[0]!.graph });
  store.create(role("ApprovalAgent"));
  const crews = newCrewStore(db, () => 1000);
  const agents = newAgentStore(db, () => 1000);
  const agent = (role_name: string) => AgentConfig.parse({ agent_id: "a", role_name });
  crews.create("Desk", CrewConfig.parse({ crew_id: "desk", agents: [agent("ApprovalAgent")] }));
  crews.create("Other", CrewConfig.parse({ crew_id: "other", agents: [agent("Writer")] }));
  agents.create("Amy", agent("ApprovalAgent"));
  expect(store.save("ApprovalAgent", 1, role("Approver"))).toMatchObject({
    saved: true,
    renamed_in: { workflows: 1, crews: 1, agents: 1 },
  });
  expect(crews.find("desk")).toMatchObject({ revision: 2, crew: { agents: [{ role_name: "Approver" }] } });
  expect(crews.find("other")).toMatchObject({ revision: 1 });
  expect(agents.find("a")).toMatchObject({ name: "Amy", revision: 2, agent: { role_name: "Approver" } });
  expect(roleUses(workflows.find(id)!.graph).get("Approver")).toEqual(["node_get_approval"]);
});

test("roles in a folder override those of the same name, show their file, and are read-only", () => {
  const files = [{ role: role("Writer", "from a file"), file: "writer.yaml" }];
  const shared = new RoleStore(db, () => 1000, { roles: () => files });
  store.create(role("Writer", "my own"));
  store.create(role("Zoe"));
  expect(shared.list()).toEqual([
    {
      role: role("Writer", "from a file"),
      revision: 1,
      builtin: false,
      updated_at: 0,
      origin: { kind: "folder", file: "writer.yaml" },
    },
    { role: role("Zoe"), revision: 1, builtin: false, updated_at: 1000 },
  ]);
  expect(shared.create(role("Writer"))).toBe(false);
  expect(shared.remove("Writer")).toBe(false);
  shared.put(role("Writer", "imported"));
  expect(shared.save("Writer", 1, role("Writer", "changed"))).toEqual({
    saved: false,
    reason: "read_only",
    file: "writer.yaml",
  });
  expect(shared.save("Zoe", 1, role("Writer"))).toEqual({ saved: false, reason: "name_taken" });
  expect(shared.find("Writer")?.role.description).toBe("from a file");
  files.pop();
  expect(shared.find("Writer")?.role.description).toBe("my own");
});
