import { expect, test } from "vitest";
import { CrewConfig } from "@/server/domain/crew/crew";
import {
  groupsOf,
  newAgent,
  newMember,
  removeAgent,
  renameAgent,
  stepsOf,
  withGroups,
  withSteps,
} from "./crew-changes";

const crew = CrewConfig.parse({
  process: "custom",
  agents: [
    { agent_id: "ann", role_name: "Writer", handoffs: ["bob"] },
    { agent_id: "bob", role_name: "Editor" },
  ],
  manager: { agent_id: "bob" },
  entry_agent: "ann",
  consensus: { rule: "weighted", weights: { ann: 2, bob: 1 } },
  collaboration_patterns: [
    "something else",
    {
      name: "review",
      type: "custom",
      workflow: [
        { step: "write", agent: "ann", next_on_done: "check" },
        { step: "check", agent: "bob", next_on_wrong: "write", next_on_right: "ann" },
      ],
    },
    { parallel_groups: [{ name: "g", agents: ["ann", "bob"], coordination_agent: "bob" }] },
  ],
});

test("renaming an agent updates every reference to its id", () => {
  const next = renameAgent(renameAgent(crew, "bob", "eve"), "ann", "amy");
  expect(JSON.stringify(next)).not.toMatch(/"(ann|bob)"/);
  expect(next).toMatchObject({
    entry_agent: "amy",
    manager: { agent_id: "eve" },
    consensus: { weights: { amy: 2, eve: 1 } },
    agents: [{ handoffs: ["eve"] }, {}],
  });
  expect(groupsOf(next)[0]).toMatchObject({ agents: ["amy", "eve"], coordination_agent: "eve" });
  expect(stepsOf(next)[1]?.outcomes).toEqual([
    { outcome: "wrong", target: "write" },
    { outcome: "right", target: "amy" },
  ]);
  expect(CrewConfig.parse(next)).toEqual(next);
});

test("removing an agent removes all references to it, and the last agent can't be removed", () => {
  const next = removeAgent(crew, "bob")!;
  expect(JSON.stringify(next)).not.toContain('"bob"');
  expect(next.manager).toBeUndefined();
  expect(groupsOf(next)[0]).toMatchObject({ agents: ["ann"], coordination_agent: undefined });
  expect(removeAgent(next, "ann")).toBeNull();
});

test("editing groups and steps preserves other patterns and names", () => {
  const next = withSteps(withGroups(crew, []), [
    { step: "only", agent: "ann", description: "Do it", outcomes: [] },
  ]);
  expect(next.collaboration_patterns).toEqual([
    "something else",
    { name: "review", type: "custom", workflow: [{ step: "only", agent: "ann", description: "Do it" }] },
  ]);
  expect(withSteps(next, []).collaboration_patterns).toEqual(["something else"]);
  expect(
    withGroups(crew, groupsOf(crew)).collaboration_patterns.map(
      (pattern) => Object.keys(pattern as object)[0],
    ),
  ).toContain("parallel_groups");
});

test("new agents get unique ids", () => {
  const first = newAgent("Quality Reviewer", []);
  const second = newAgent("Quality Reviewer", [first]);
  const third = newMember({ ...first, backstory: "Strict" }, [first, second]);
  expect(third).toEqual({
    ...first,
    agent_id: "quality_reviewer_3",
    agent_ref: first.agent_id,
    backstory: "Strict",
  });
  expect(first.agent_id).not.toBe(second.agent_id);
  expect(first.agent_id).toMatch(/^quality/);
});
