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

describe("a change of a crew's team is refused", () => {
  const errorOf = (command: TeamCommand, events: NewEvent[] = begin, analysis = a) =>
    commandError(analysis, fold(...events), command);

  test.each<[string, TeamCommand, NewEvent[], string | null]>([
    [
      "at a node that is not there",
      { ...add("Writer"), node_id: "constructor" },
      begin,
      'This workflow has no node "constructor".',
    ],
    ["at a node without a crew", { ...add("Writer"), node_id: "start" }, begin, "start has no crew."],
    ["once its work is over", add("Writer"), [...begin, completed("crew")], "The crew of Crew has finished"],
    ["once the run has ended", add("Writer"), [...begin, over()], "This run has ended."],
    ["to somebody who is not in it", change("eve", { backstory: "x" }), begin, 'Crew has no agent "eve".'],
    [
      "that takes out somebody who is not in it",
      remove("eve"),
      begin,
      'Crew has no agent "eve". Its agents:',
    ],
    ["that says nothing", change("ann", {}), begin, "Specify what to change about ann."],
    [
      "that brings a name that is there, however it is written",
      add("Writer", { agent_id: "ANN" }),
      begin,
      'Crew already has an agent "ANN".',
    ],
    [
      "that brings the name of whoever asked",
      add("Writer", { agent_id: "User" }),
      begin,
      '"User" is reserved for the person who asked.',
    ],
    ["that names a role that nobody knows", add("Poet"), begin, 'The library has no role "Poet".'],
    [
      "that gives tools that the role may not use",
      add("Reader", { tools: ["read", "write"] }),
      begin,
      "The role \"Reader\" can't use write. Members can use only their role's tools: choose a role that allows it.",
    ],
    [
      "that gives a member tools that its role may not use",
      change("bob", { tools: ["write"] }),
      begin,
      "The role \"Reader\" can't use write. Members can use only their role's tools: choose a role that allows it.",
    ],
    [
      "that takes out the last one",
      remove("bob"),
      [...begin, changed("ann", null)],
      "bob is the last member of",
    ],
  ])("%s", (_why, command, events, error) => {
    expect(errorOf(command, events)).toEqual(containing(error));
  });

  test.each<[string, TeamCommand]>([
    ["a member of a role that the run knows", add("Writer", { agent_id: "cid", tools: ["read"] })],
    ["a member of a role that comes with it", { ...add("Judge", { tools: ["mcp:law/find"] }), role: judge }],
    ["a member that goes", remove("ann")],
    ["other instructions", change("ann", { backstory: "Be kind." })],
    ["another role, of which nothing is planned", change("ann", { role_name: "Reader" })],
    ["the usual tools again", change("ann", { tools: null })],
  ])("never where it fits: %s", (_what, command) => {
    expect([errorOf(command), errorOf(command, running)]).toEqual([null, null]);
  });

  test("where the node has no name, by its id", () => {
    const graph = draw("start > crew > end", { crew: { node_type: "crew_task", name: "", config: {} } });
    expect(errorOf(add("Writer"), [created(graph), ready("crew")], analyse(graph))).toBe("crew has no crew.");
  });

  test("where no agent of the run may use the tool", () => {
    const { a: of, begin: events } = crewRun({ ...pair, config: { denied_tools: ["write"] } });
    expect(errorOf(add("Writer", { tools: ["read"] }), events, of)).toBeNull();
    expect(errorOf(add("Writer", { tools: ["read", "write"] }), events, of)).toBe(
      "No agent in this run can use write.",
    );
  });

  test("where the crew is full", () => {
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

  test("where one agent gives all the answers, which are compared", () => {
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

  test("while its members vote, and not before or after", () => {
    const votes = crewRun({ ...pair, process: "consensus" });
    const error = "Its members are voting. The team can't change until the vote is over.";
    const at = (...more: NewEvent[]) => errorOf(add("Reader"), [...votes.running, ...more], votes.a);
    expect([errorOf(add("Reader"), votes.begin, votes.a), at(), at(proposal), at(proposal, decided)]).toEqual(
      [null, null, error, null],
    );
  });

  test("where the one who is taken out is to vote in a crew that works otherwise", () => {
    const at = (id: string, ...more: NewEvent[]) => errorOf(remove(id), [...running, ...more]);
    expect(at("bob", proposal)).toBe("bob is taking part in the current vote. Wait until the vote is over.");
    expect(at("ann", proposal)).toBeNull();
    expect(at("bob", proposal, decided)).toBeNull();
  });

  test("where the one who is taken out leads the crew", () => {
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

  test("where a crew in which each hands over would have nobody to begin with", () => {
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
  test("where the one who is taken out is at work, as an agent, by a task or by its turn", () => {
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

  test("where it would leave the crew with nobody to lead", () => {
    const two = crewRun({ ...pair, process: "hierarchical" });
    expect(errorOf(remove("bob"), two.begin, two.a)).toBe(
      "Without bob, the crew couldn't continue: A hierarchical crew needs at least one agent besides the manager.",
    );
    const alone = crewRun({ members: { ann: "Writer" }, roles, process: "hierarchical" });
    // What was wrong before is no reason to refuse what does not make it worse.
    expect(errorOf(change("ann", { backstory: "x" }), alone.begin, alone.a)).toBeNull();
  });
});

describe("a member that a plan needs", () => {
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

  test("cannot be taken out, whether the plan is drawn or was made on the way", () => {
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

  test("cannot be given another role where it is the only one of its own that the plan asks for", () => {
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

  test("may go where another has its role, and where nobody follows that plan", () => {
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
