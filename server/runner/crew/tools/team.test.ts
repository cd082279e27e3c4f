import { expect, test } from "vitest";
import { agent, of } from "@/server/conformance/stage";
import { answersTo, runTalk } from "./testing";

const agents = ["ann", "bob", "cid"].map((name) => agent(name));
const create = (members: string[], purpose = "attack", team_name = "red") =>
  ["create_team", { team_name, agents: members, purpose }] as const;
const modify = (args: { add_agents?: string[]; remove_agents?: string[] }, team_name = "red") =>
  ["modify_team", { team_name, ...args }] as const;
const dissolve = (team_name = "red") => ["dissolve_team", { team_name, reason: "not needed" }] as const;

test("a team lists each member once, and its changes are logged with their author", async () => {
  const { events, state } = await runTalk(
    [["ann", create(["ann", "BOB", "bob"]), modify({ add_agents: ["bob", "cid"], remove_agents: ["ann"] })]],
    { agents },
  );
  expect(of(events, "team_changed")).toEqual([
    { team: "red", action: "created", agents: ["ann", "bob"], by: "ann", purpose: "attack" },
    { team: "red", action: "modified", agents: ["bob", "cid"], by: "ann" },
  ]);
  expect(events.find(({ type }) => type === "team_changed")).toMatchObject({ agent_id: "ann" });
  expect(answersTo(state, "ann")).toEqual([
    [200, '{"team":"red","agents":["ann","bob"]}'],
    [200, '{"team":"red","agents":["bob","cid"]}'],
  ]);
  expect(Object.values(state.crews)[0]!.teams).toEqual({
    red: { agents: ["bob", "cid"], purpose: "attack" },
  });
});

test("a dissolved team is gone, and its name can be reused", async () => {
  const { events, state } = await runTalk([["ann", create(["bob"]), dissolve(), create(["cid"], "")]], {
    agents,
  });
  expect(of(events, "team_changed")).toEqual([
    { team: "red", action: "created", agents: ["bob"], by: "ann", purpose: "attack" },
    { team: "red", action: "dissolved", agents: ["bob"], by: "ann", purpose: "not needed" },
    { team: "red", action: "created", agents: ["cid"], by: "ann" },
  ]);
  expect(answersTo(state, "ann").map(([status]) => status)).toEqual([200, 200, 200]);
});

test("a team with unfinished tasks can't be dissolved until they are reassigned", async () => {
  const assign = (agent_name: string) => ["plan_assign_task", { task_id: "later", agent_name }] as const;
  const { events, state } = await runTalk(
    [["ann", create(["bob"]), assign("red"), dissolve(), assign("cid"), dissolve()]],
    { agents },
    { tasks: [{ task_id: "later", description: "later", dependencies: ["turn_1"] }] },
  );
  expect(answersTo(state, "ann")[2]).toEqual([
    409,
    'Tasks of "red" are not done: later. Assign them to other agents first.',
  ]);
  expect(of(events, "team_changed").map(({ action }) => action)).toEqual(["created", "dissolved"]);
  expect([state.run.final_status, state.run.error?.message]).toEqual(["COMPLETED", undefined]);
});

test("an invalid team change is refused with the reason and changes nothing", async () => {
  const { events, state } = await runTalk(
    [
      [
        "ann",
        create(["bob"]),
        create(["cid"]),
        create(["bob", "dan", "eve"], "x", "blue"),
        modify({ add_agents: ["dan"] }),
        modify({ remove_agents: ["eve"] }),
        modify({ remove_agents: ["bob"] }),
        modify({ add_agents: ["cid"] }, "blue"),
        dissolve("blue"),
      ],
    ],
    { agents },
  );
  expect(answersTo(state, "ann").slice(1)).toEqual([
    [409, 'There is already a team "red".'],
    [404, "Unknown agent: dan, eve. The crew has: ann, bob, cid."],
    [404, "Unknown agent: dan. The crew has: ann, bob, cid."],
    [404, "Unknown agent: eve. The crew has: ann, bob, cid."],
    [400, "A team needs at least one agent; dissolve it instead."],
    [404, 'There is no team "blue".'],
    [404, 'There is no team "blue".'],
  ]);
  expect(of(events, "team_changed")).toHaveLength(1);
});
