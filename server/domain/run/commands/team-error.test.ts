import { describe, expect, test } from "vitest";
import { ExecutionPlan } from "@/server/domain/crew/plan";
import { analyse } from "@/server/domain/graph/analysis";
import { containing } from "@/server/domain/testing/containing";
import { draw } from "@/server/domain/testing/drawing";
import type { NewEvent } from "../events";
import { agentFinished, agentStarted, completed, created, crewRun, fold, of, over, ready } from "../testing";
import { commandError } from "./command";
import type { TeamCommand } from "./team-edit";
import { a, add, begin, change, changed, judge, pair, remove, roles, running } from "./testing";

describe("rejected team edits", () => {
  const errorOf = (command: TeamCommand, events: NewEvent[] = begin, analysis = a) =>
    commandError(analysis, fold(...events), command);

  test.each<[string, TeamCommand, NewEvent[], string | null]>([
    [
      "at a node that does not exist",
      { ...add("Writer"), node_id: "constructor" },
      begin,
      'This workflow has no node "constructor".',
    ],
    ["at a node without a crew", { ...add("Writer"), node_id: "start" }, begin, "start has no crew."],
    [
      "after the crew has finished",
      add("Writer"),
      [...begin, completed("crew")],
      "The crew of Crew has finished",
    ],
    ["after the run has ended", add("Writer"), [...begin, over()], "This run has ended."],
    ["for an unknown member", change("eve", { backstory: "x" }), begin, 'Crew has no agent "eve".'],
    ["if it removes an unknown member", remove("eve"), begin, 'Crew has no agent "eve". Its agents:'],
    ["without any changes", change("ann", {}), begin, "Specify what to change about ann."],
    [
      "if the member's id exists in another case",
      add("Writer", { agent_id: "ANN" }),
      begin,
      'Crew already has an agent "ANN".',
    ],
    [
      "if the member's id is reserved",
      add("Writer", { agent_id: "User" }),
      begin,
      '"User" is reserved for the person who asked.',
    ],
    ["for an unknown role", add("Poet"), begin, 'The library has no role "Poet".'],
    [
      "if it adds a member with tools that its role lacks",
      add("Reader", { tools: ["read", "write"] }),
      begin,
      "The role \"Reader\" can't use write. Members can use only their role's tools: choose a role that allows it.",
    ],
    [
      "if it gives a member tools that its role lacks",
      change("bob", { tools: ["write"] }),
      begin,
      "The role \"Reader\" can't use write. Members can use only their role's tools: choose a role that allows it.",
    ],
    [
      "if it removes the last member",
      remove("bob"),
      [...begin, changed("ann", null)],
      "bob is the last member of",
    ],
  ])("a team edit is rejected %s", (_why, command, events, error) => {
    expect(errorOf(command, events)).toEqual(containing(error));
  });

  test.each<[string, TeamCommand]>([
    ["adding a member of a known role", add("Writer", { agent_id: "cid", tools: ["read"] })],
    [
      "adding a member of a role that the edit includes",
      { ...add("Judge", { tools: ["mcp:law/find"] }), role: judge },
    ],
    ["removing a member", remove("ann")],
    ["changing the instructions", change("ann", { backstory: "Be kind." })],
    ["changing a role that no plan needs", change("ann", { role_name: "Reader" })],
    ["restoring the default tools", change("ann", { tools: null })],
  ])("a valid team edit is accepted: %s", (_what, command) => {
    expect([errorOf(command), errorOf(command, running)]).toEqual([null, null]);
  });

  test("the error names a node without a name by its id", () => {
    const graph = draw("start > crew > end", { crew: { node_type: "crew_task", name: "", config: {} } });
    expect(errorOf(add("Writer"), [created(graph), ready("crew")], analyse(graph))).toBe("crew has no crew.");
  });

  test("a team edit cannot grant a tool that the run denies", () => {
    const { a: of, begin: events } = crewRun({ ...pair, config: { denied_tools: ["write"] } });
    expect(errorOf(add("Writer", { tools: ["read"] }), events, of)).toBeNull();
    expect(errorOf(add("Writer", { tools: ["read", "write"] }), events, of)).toBe(
      "No agent in this run can use write.",
    );
  });

  test("a team edit cannot add a member to a full crew", () => {
    const many = (count: number) =>
      crewRun({
        members: Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, "Reader"])),
        roles,
      });
    const [full, almost] = [many(32), many(31)];
    expect(errorOf(add("Writer"), full.begin, full.a)).toBe("A crew can have at most 32 members.");
    expect(errorOf(add("Writer"), almost.begin, almost.a)).toBeNull();
    expect(errorOf(change("m0", { backstory: "x" }), full.begin, full.a)).toBeNull();
  });

  test("a team edit cannot add a member if a single agent gives all the answers to compare", () => {
    const sample = crewRun({ members: { ann: "Writer" }, roles, process: "sample" });
    const error =
      "One agent gives all of this crew's answers, and they are comparable only if that agent stays the same.";
    expect(errorOf(add("Reader"), sample.begin, sample.a)).toBe(error);
  });

  const proposal = of("crew", "proposal_created", {
    proposal_id: "p",
    decision: "so",
    rationale: "so",
    by: "ann",
    stakeholders: ["bob"],
  });
  const decided = of("crew", "consensus_finalized", {
    proposal_id: "p",
    outcome: "approved",
    rule: "majority",
    approve: 1,
    reject: 0,
    abstain: 0,
    turnout: 1,
    decided_by: "votes",
  });

  test("a team edit is rejected only while the members vote", () => {
    const votes = crewRun({ ...pair, process: "consensus" });
    const error = "Its members are voting. The team can't change until the vote is over.";
    const at = (...more: NewEvent[]) => errorOf(add("Reader"), [...votes.running, ...more], votes.a);
    expect([errorOf(add("Reader"), votes.begin, votes.a), at(), at(proposal), at(proposal, decided)]).toEqual(
      [null, null, error, null],
    );
  });

  test("a member that takes part in a vote cannot be removed", () => {
    const at = (id: string, ...more: NewEvent[]) => errorOf(remove(id), [...running, ...more]);
    expect(at("bob", proposal)).toBe("bob is taking part in the current vote. Wait until the vote is over.");
    expect(at("ann", proposal)).toBeNull();
    expect(at("bob", proposal, decided)).toBeNull();
  });

  test("the leader of a crew cannot be removed", () => {
    const led = crewRun({
      members: { ann: "Writer", bob: "Reader", cid: "Reader" },
      roles,
      process: "hierarchical",
    });
    const at = (id: string) => errorOf(remove(id), led.running, led.a);
    expect(at("ann")).toBe(
      "ann leads this crew and can't be removed. Change its model or instructions instead.",
    );
    expect(at("bob")).toBeNull();
    // The one who sounds like a leader leads only where somebody is needed for it.
    const free = crewRun({ members: { ann: "Planner", bob: "Reader" }, roles });
    expect(errorOf(remove("ann"), free.running, free.a)).toBeNull();
  });

  test("the entry agent of a swarm cannot be removed before the crew starts", () => {
    const errorFor = (id: string) =>
      `The crew starts with ${id}. Remove it once another agent has taken over.`;
    const swarm = crewRun({ ...pair, process: "swarm" });
    const named = crewRun({ ...pair, process: "swarm", entry_agent: "bob" });
    expect(errorOf(remove("ann"), swarm.begin, swarm.a)).toEqual(errorFor("ann"));
    expect(errorOf(remove("bob"), swarm.begin, swarm.a)).toBeNull();
    expect(errorOf(remove("ann"), named.begin, named.a)).toBeNull();
    expect(errorOf(remove("bob"), named.begin, named.a)).toEqual(errorFor("bob"));
    expect(errorOf(remove("bob"), named.running, named.a)).toBeNull();
    expect(errorOf(remove("ann"), begin)).toBeNull();
  });

  const busy = (id: string) =>
    `${id} is working. Remove it when it is done, or choose who continues instead.`;
  test("a member that is active, has a task in progress or has its turn cannot be removed", () => {
    const at = (id: string, ...more: NewEvent[]) => errorOf(remove(id), [...running, ...more]);
    const begun = agentStarted("ann", "Writer");
    expect(at("ann", begun)).toEqual(busy("ann"));
    expect(at("bob", begun)).toBeNull();
    expect(at("ann", begun, agentFinished("ann"))).toBeNull();
    const other = { ...begun, activation_id: "crew#2" } as NewEvent;
    expect(at("ann", other)).toBeNull();

    const plan = of("crew", "plan_created", {
      by: "ann",
      plan: ExecutionPlan.parse({ tasks: [{ task_id: "t", description: "Do it", assigned_agent: "bob" }] }),
    });
    const task = (to: "in_progress" | "awaiting_human" | "completed") =>
      of("crew", "task_status_changed", { from: "pending", to }, { task_id: "t" });
    expect(at("bob", plan, task("in_progress"))).toEqual(busy("bob"));
    expect(at("bob", plan, task("awaiting_human"))).toEqual(busy("bob"));
    expect(at("bob", plan, task("completed"))).toBeNull();
    expect(at("ann", plan, task("in_progress"))).toBeNull();

    const turn = of("crew", "post_sent", { from: "ann", to: "bob", message: "Go on.", kind: "post" });
    const turns = (["swarm", "hierarchical", "custom", "sequential", "parallel"] as const).map((process) => {
      const crew = crewRun({ members: { ann: "Writer", bob: "Reader", cid: "Reader" }, roles, process });
      return (
        commandError(crew.a, fold(...crew.running, turn), remove("bob"))?.startsWith("bob is working") ??
        false
      );
    });
    expect(turns).toEqual([true, true, true, false, false]);
  });

  test("the last agent besides the manager cannot be removed", () => {
    const two = crewRun({ ...pair, process: "hierarchical" });
    expect(errorOf(remove("bob"), two.begin, two.a)).toBe(
      "Without bob, the crew couldn't continue: A hierarchical crew needs at least one agent besides the manager.",
    );
    const alone = crewRun({ members: { ann: "Writer" }, roles, process: "hierarchical" });
    // What was wrong before is no reason to refuse what does not make it worse.
    expect(errorOf(change("ann", { backstory: "x" }), alone.begin, alone.a)).toBeNull();
  });
});

describe("members that a plan needs", () => {
  const tasks = [
    { task_id: "draft", description: "Write it", required_role: "Writer" },
    { task_id: "check", description: "Check it", assigned_agent: "bob" },
  ];
  const errorOf = (crew: ReturnType<typeof crewRun>, command: TeamCommand, events = crew.begin) =>
    commandError(crew.a, fold(...events), command);
  const stillToDo = (id: string, names: string, them: string) =>
    `${id} is still assigned to the plan's ${names.includes(",") ? "tasks" : "task"} ${names}. Reassign ${them} first.`;
  const asksFor = (role_name: string, names: string, ask: string, them: string) =>
    `No one else has the role "${role_name}", which the plan's ${names.includes(",") ? "tasks" : "task"} ${names} ${ask}. Reassign ${them} first.`;

  test("a member that the predefined or current plan needs cannot be removed", () => {
    const crew = crewRun({ ...pair, plan: { tasks } });
    expect(errorOf(crew, remove("ann"))).toEqual(stillToDo("ann", '"draft"', "it"));
    expect(errorOf(crew, remove("bob"))).toEqual(stillToDo("bob", '"check"', "it"));
    const made = of("crew", "plan_created", {
      by: "ann",
      plan: ExecutionPlan.parse({ tasks: [...tasks, { ...tasks[0], task_id: "more" }] }),
    });
    const done = of(
      "crew",
      "task_status_changed",
      { from: "pending", to: "completed" },
      { task_id: "draft" },
    );
    // At work it is the plan of now that counts, and none where none was made.
    expect([
      errorOf(crew, remove("ann"), crew.running),
      errorOf(crew, remove("ann"), [...crew.running, made]),
      errorOf(crew, remove("ann"), [...crew.running, made, done]),
    ]).toEqual([null, stillToDo("ann", '"draft", "more"', "them"), stillToDo("ann", '"more"', "it")]);
  });

  test("a member cannot change its role if the plan needs that role and no other member has it", () => {
    const crew = crewRun({ ...pair, plan: { tasks: [...tasks, { ...tasks[0], task_id: "more" }] } });
    expect([
      errorOf(crew, change("ann", { role_name: "Reader" })),
      errorOf(crew, change("ann", { role_name: "Writer" })),
      // What names somebody stays with them, whatever their role.
      errorOf(crew, change("bob", { role_name: "Writer" })),
      errorOf(
        crewRun({ ...pair, plan: { tasks: [tasks[0]] } as never }),
        change("ann", { role_name: "Reader" }),
      ),
    ]).toEqual([
      asksFor("Writer", '"draft", "more"', "need", "them"),
      null,
      null,
      asksFor("Writer", '"draft"', "needs", "it"),
    ]);
  });

  test("a member can be removed if another has its role or no one follows the plan", () => {
    const three = { members: { ann: "Writer", cid: "Writer", bob: "Reader" }, roles, plan: { tasks } };
    expect(errorOf(crewRun(three), remove("ann"))).toBeNull();
    expect(errorOf(crewRun({ ...three, process: "parallel" }), remove("bob"))).toBe(
      stillToDo("bob", '"check"', "it"),
    );
    expect(errorOf(crewRun({ ...three, process: "swarm", entry_agent: "ann" }), remove("bob"))).toBeNull();
    // A crew that plans for itself makes another plan.
    expect(errorOf(crewRun({ ...three, planning: true }), remove("bob"))).toBeNull();
    const byRoleName = {
      ...three,
      plan: { tasks: [{ task_id: "x", description: "x", assigned_agent: "Reader" }] },
    };
    expect(errorOf(crewRun(byRoleName), remove("bob"))).toBe(stillToDo("bob", '"x"', "it"));
  });
});
