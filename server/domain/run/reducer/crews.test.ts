import { describe, expect, test } from "vitest";
import { RoleDefinition } from "@/server/domain/agent/role";
import type { NewEvent, Payloads } from "../events";
import { crewRun, fold, of } from "../testing";

const members = { ann: "Writer", bob: "Reader" };
const { running, begin } = crewRun({ members });
const crewOf = (...events: NewEvent[]) => fold(...running, ...events).crews["crew#1"];

describe("a crew", () => {
  const link = { at: expect.any(Number), round: 0 };
  const post = { from: "ann", to: "bob", message: "Hi", kind: "post" as const };
  const handoff = { from: "bob", to: "ann", reason: "so", count: 2 };
  const delegation = (child: string) => ({
    from: "ann",
    to: "bob",
    task: "x",
    kind: "delegate" as const,
    level: 1,
    child,
  });
  const vote = {
    proposal_id: "p",
    round: 1,
    agent_id: "ann",
    vote: "approve" as const,
    reasoning: "",
    confidence: null,
  };
  const begun = {
    activation_id: "crew#1",
    process: "sequential",
    goal: "it",
    members: [
      { agent_id: "ann", role_name: "Writer" },
      { agent_id: "bob", role_name: "Reader" },
    ],
    status: "running",
    round: 0,
    handoffs: 0,
    exchanges: [],
    board: {},
    teams: {},
    proposals: {},
  };

  test("a crew starts with its members, and with its manager if it has one", () => {
    expect(crewOf()).toEqual(begun);
    const led = crewRun({ members, process: "hierarchical" });
    expect(fold(...led.running).crews["crew#1"]).toEqual({
      ...begun,
      process: "hierarchical",
      manager: "ann",
    });
  });

  test("a crew records posts, handoffs, delegations and votes, each with its round", () => {
    const proposal = { decision: "so", rationale: "why", by: "ann", stakeholders: ["bob"] };
    const outcome = {
      proposal_id: "p",
      outcome: "approved" as const,
      rule: "majority",
      approve: 1,
      reject: 0,
      abstain: 0,
      turnout: 1,
      decided_by: "votes" as const,
    };
    const crew = crewOf(
      of("crew", "post_sent", post),
      of("crew", "round_started", { round: 2 }),
      of("crew", "handed_off", handoff),
      of("crew", "delegation_started", delegation("x")),
      of("crew", "delegation_started", delegation("y")),
      of("crew", "delegation_finished", { from: "ann", to: "bob", child: "x", status: "failed" }),
      of("crew", "proposal_created", { proposal_id: "p", ...proposal }),
      of("crew", "vote_cast", vote),
      of("crew", "vote_cast", { ...vote, proposal_id: "unknown" }),
      of("crew", "consensus_finalized", outcome),
      of("crew", "ledger_updated", { ledger: {}, stalls: 1, replans: 0 }),
      of("crew", "board_written", { alias: "plan", bulletin: "one" }),
      of("crew", "board_written", { alias: "news", bulletin: "two" }),
      of("crew", "board_written", { alias: "plan", bulletin: "three" }),
    );
    const later = { ...link, round: 2 };
    expect(crew).toEqual({
      ...begun,
      round: 2,
      handoffs: 2,
      active_agent: "ann",
      exchanges: [
        { kind: "post", post, ...link, seq: 5, at: 40 },
        { kind: "handoff", handoff, ...later, seq: 7 },
        { kind: "delegation", delegation: delegation("x"), done: "failed", ...later, seq: 8 },
        { kind: "delegation", delegation: delegation("y"), ...later, seq: 9 },
        { kind: "vote", vote, ...later, seq: 12 },
        { kind: "vote", vote: { ...vote, proposal_id: "unknown" }, ...later, seq: 13 },
      ],
      proposals: { p: { ...proposal, id: "p", votes: [vote], outcome } },
      ledger: { ledger: {}, stalls: 1, replans: 0 },
      board: { plan: "three", news: "two" },
    });
  });

  const team = (action: Payloads["team_changed"]["action"], agents: string[], purpose?: string) =>
    of("crew", "team_changed", { team: "desk", action, agents, by: "ann", ...(purpose ? { purpose } : {}) });
  test("a crew has teams, and a team change without a purpose keeps the old one", () => {
    expect(crewOf(team("created", ["ann"]))?.teams).toEqual({ desk: { agents: ["ann"], purpose: "" } });
    expect(crewOf(team("created", ["ann"], "writing"), team("modified", ["ann", "bob"]))?.teams).toEqual({
      desk: { agents: ["ann", "bob"], purpose: "writing" },
    });
    expect(crewOf(team("created", ["ann"], "writing"), team("modified", ["bob"], "reading"))?.teams).toEqual({
      desk: { agents: ["bob"], purpose: "reading" },
    });
    expect(crewOf(team("created", ["ann"]), team("dissolved", []))?.teams).toEqual({});
  });

  const changed = (agent_id: string, role_name: string | null, more: object = {}) =>
    of("crew", "member_changed", {
      agent_id,
      action: role_name === null ? "removed" : "changed",
      ...(role_name === null ? {} : { agent: { agent_id, role_name } as never }),
      ...more,
      by: "eve",
    });
  const next = (agent_id: string) => of("crew", "next_overridden", { agent_id, by: "eve" });
  test("a removed member leaves its teams, dissolves those left empty and is no longer next", () => {
    const two = of("crew", "team_changed", {
      team: "all",
      action: "created",
      agents: ["ann", "bob"],
      by: "ann",
    });
    const crew = crewOf(team("created", ["bob"]), two, next("bob"), changed("bob", null));
    expect(crew).toEqual({
      ...begun,
      members: [{ agent_id: "ann", role_name: "Writer" }],
      teams: { all: { agents: ["ann"], purpose: "" } },
      next_agent: undefined,
    });
    expect(crewOf(next("ann"), changed("bob", null))?.next_agent).toBe("ann");
  });

  test("a crew gets an added or replaced member with the description of its role", () => {
    const poet = RoleDefinition.parse({ name: "Poet", description: "rhymes" });
    const state = fold(
      ...running,
      changed("cid", "Poet", { role: poet, tools: ["pen"], context_windows: { "p/m": 9 } }),
      changed("ann", "Poet", { context_windows: { "q/n": 7 } }),
      changed("bob", "Reader"),
    );
    expect(state.crews["crew#1"]?.members).toEqual([
      { agent_id: "ann", role_name: "Poet", description: "rhymes" },
      { agent_id: "bob", role_name: "Reader" },
      { agent_id: "cid", role_name: "Poet", description: "rhymes" },
    ]);
    expect([state.roles, state.run.context_windows]).toEqual([[poet], { "p/m": 9, "q/n": 7 }]);
    expect(state.team_changes).toEqual({
      crew: {
        cid: { agent: { agent_id: "cid", role_name: "Poet" }, tools: ["pen"] },
        ann: { agent: { agent_id: "ann", role_name: "Poet" } },
        bob: { agent: { agent_id: "bob", role_name: "Reader" } },
      },
    });
    expect(state.team_news).toEqual(
      ["cid", "ann", "bob"].map((agent_id) => ({ node_id: "crew", agent_id, action: "changed" })),
    );
  });

  test("a crew that has ended keeps its members, and a member change applies to its next activation", () => {
    const ended = of("crew", "crew_finished", { status: "completed" });
    const state = fold(...running, ended, changed("bob", null));
    expect(state.crews["crew#1"]).toEqual({ ...begun, status: "completed" });
    expect(state.team_changes).toEqual({ crew: { bob: null } });
    expect(fold(...begin, changed("bob", null)).crews).toEqual({});
  });
});
