import { describe, expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { containing } from "@/server/domain/testing/containing";
import type { NewEvent, Payloads } from "../events";
import { findingsOf } from ".";
import {
  by,
  checked,
  crew,
  done,
  event,
  failed,
  failure,
  log,
  places,
  planned,
  task,
  usage,
} from "./testing";

describe("checks of a crew's result", () => {
  test("unchecked success criteria are found once the crew has completed", () => {
    const plan = planned({ success_criteria: ["It is kind", "It is short", "It is true"] });
    expect(findingsOf(log(crew, plan, checked(true), done))).toMatchObject([
      { kind: "not_verified", seq: 5, said: containing("“It is short”, “It is true”") },
    ]);
    expect(findingsOf(log(crew, plan, failed))).toEqual([]);
    expect(findingsOf(log(crew, done))).toEqual([]);
  });

  test("a check before the last task is found with that task", () => {
    const early = (more: Partial<NewEvent>) =>
      findingsOf(
        log(
          crew,
          planned(),
          checked(true),
          { ...task("completed"), ...more } as NewEvent,
          task("completed"),
          done,
        ),
      );
    const found = (name: string) => [
      { kind: "verified_too_early", seq: 4, said: containing(`before ${name} `) },
    ];
    expect(early({})).toMatchObject(found("draft"));
    const { task_id: _t, ...nameless } = task("completed");
    const events = [crew, planned(), checked(true), nameless as NewEvent, done];
    expect(findingsOf(log(...events))).toMatchObject(found("the last task"));
    expect(places(crew, planned(), task("completed"), checked(true), done)).toEqual([]);
    expect(places(crew, planned(), checked(true), task("completed"), checked(true), done)).toEqual([]);
    expect(places(crew, planned(), checked(true), task("awaiting_human"), done)).toEqual([
      ["plan_not_done", 6],
    ]);
    expect(places(crew, planned(), checked(true), task("completed"), failed)).toEqual([]);
  });

  test("an unmet criterion is found with its evidence, unless a later check passes", () => {
    const found = (evidence: string) => [
      {
        kind: "check_passed_over",
        seq: 4,
        said: `“It is kind” was not met, but the crew completed anyway.${evidence}`,
      },
    ];
    expect(findingsOf(log(crew, planned(), checked(false), done))).toMatchObject(found(" It says so."));
    const bare = event("criterion_checked", { criterion: "It is kind", met: false, evidence: "" });
    expect(findingsOf(log(crew, planned(), bare, done))).toMatchObject(found(""));
    expect(places(crew, planned(), checked(false), checked(true), done)).toEqual([]);
    expect(places(crew, planned(), checked(true), checked(false), done)).toEqual([["check_passed_over", 5]]);
    expect(places(crew, planned(), checked(false), failed)).toEqual([]);
  });

  test("a failed guardrail that only warns is found", () => {
    const rule = (more: Partial<Payloads["guardrail_checked"]>) =>
      event(
        "guardrail_checked",
        { name: "kind", target: "output", ok: false, action: "warn", ...more },
        by("writer"),
      );
    const found = (reason: string) => [
      {
        kind: "check_passed_over",
        seq: 2,
        agent_id: "writer",
        said: `The guardrail "kind" failed, but only warns.${reason}`,
      },
    ];
    expect(findingsOf(log(rule({ reason: "It shouts." })))).toMatchObject(found(" It shouts."));
    expect(findingsOf(log(rule({})))).toMatchObject(found(""));
    expect(places(rule({ ok: true }), rule({ action: "retry" }), rule({ ok: true, action: "none" }))).toEqual(
      [],
    );
  });
});

describe("votes", () => {
  const vote = (agent_id: string, more: object = { forced: true }) =>
    event("vote_cast", {
      proposal_id: "p",
      round: 1,
      agent_id,
      vote: "abstain",
      reasoning: "",
      confidence: null,
      ...more,
    });
  const decided = (outcome: Payloads["consensus_finalized"]["outcome"]) =>
    event("consensus_finalized", {
      proposal_id: "p",
      outcome,
      rule: "majority",
      approve: 0,
      reject: 0,
      abstain: 2,
      turnout: 0,
      decided_by: "votes",
    });

  test("missing votes are found at the first of them, with the names of all members", () => {
    const found = (names: string) => ({ kind: "vote_missing", seq: 3, said: containing(names) });
    const valid = vote("judge", {});
    expect(findingsOf(log(valid, vote("chief_editor"), vote("chief_editor")))).toMatchObject([
      found("chief editor cast"),
    ]);
    expect(findingsOf(log(valid, vote("editor"), vote("writer")))).toMatchObject([
      found("editor and writer cast"),
    ]);
    expect(findingsOf(log(valid, decided("rejected")))).toEqual([]);
  });

  test("a vote without a quorum is found in addition to missing votes", () => {
    expect(findingsOf(log(vote("editor"), decided("no_quorum"), decided("approved")))).toMatchObject([
      { kind: "vote_missing", seq: 2 },
      { kind: "vote_missing", seq: 3, said: containing("Too few") },
    ]);
  });
});

describe("unfinished plans", () => {
  const plan = (...tasks: JsonObject[]) => planned({ tasks, success_criteria: [] });
  const draft = { task_id: "draft", description: "Write it" };
  const open = { task_id: "title", description: "Find one" };

  test("a plan with open tasks is found with their statuses once the crew has completed", () => {
    const events = log(crew, plan(draft, open), task("awaiting_human"), task("failed", "title"));
    const found = [
      { kind: "plan_not_done", seq: 6, said: containing("draft (awaiting human), title (failed)") },
    ];
    const ended = { ...done, seq: 6, ts: 60 };
    expect(findingsOf([...events, ended])).toMatchObject(found);
    expect(findingsOf([...events, { ...failed, seq: 6, ts: 60 }])).toEqual([]);
  });

  const replanned = event("plan_changed", { version: 2, by: "writer" });
  test.each<[string, NewEvent[], [string, number][]]>([
    ["with all tasks completed", [plan(draft), task("completed"), done], []],
    ["with a skipped task", [plan(draft), task("skipped"), done], []],
    ["that was revised after a task failed", [plan(draft), task("failed"), replanned, done], []],
    [
      "that was revised before a task failed",
      [plan(draft), replanned, task("failed"), done],
      [["plan_not_done", 6]],
    ],
    [
      "that was revised for another task",
      [plan(draft, open), task("failed"), replanned, task("blocked", "title"), done],
      [["plan_not_done", 7]],
    ],
    [
      "that was revised while a task was in progress",
      [plan(draft), task("in_progress"), replanned, done],
      [["plan_not_done", 6]],
    ],
  ])("checks a plan %s", (_how, events, found) => {
    expect(places(crew, ...events)).toEqual(found);
  });
});

describe("misassigned tasks", () => {
  const plan = (more: JsonObject = {}) =>
    planned({
      tasks: [{ task_id: "draft", description: "Write it", required_role: "Writer", ...more }],
      success_criteria: [],
    });
  const begun = (assigned_agent: string) => task("in_progress", "draft", { assigned_agent });

  test("a task done by an agent of another role is found with the required role and the agent", () => {
    expect(findingsOf(log(crew, plan(), begun("editor")))).toMatchObject([
      {
        kind: "wrong_worker",
        seq: 4,
        agent_id: "editor",
        task_id: "draft",
        said: containing("needs the role Writer, but editor (Editor) did it"),
      },
    ]);
  });

  test("a task that its agent rejected is found with that agent", () => {
    const ended = (status: Payloads["agent_finished"]["status"]) =>
      event("agent_finished", { status, error: failure, usage: usage(1), cost_usd: 0 }, by("chief_writer"));
    const [, of] = findingsOf(log(ended("rejected")));
    expect(of).toMatchObject({
      kind: "wrong_worker",
      seq: 2,
      agent_id: "chief_writer",
      said: containing("chief writer rejected its task as impossible"),
    });
    expect(places(ended("completed"))).toEqual([["end_not_noticed", 2]]);
  });

  test.each<[string, NewEvent[], number[]]>([
    ["has the required role", [plan(), begun("writer")], []],
    ["is not in the crew", [plan(), begun("stranger")], []],
    ["has not started the task", [plan(), task("pending", "draft", { assigned_agent: "editor" })], []],
    [
      "works on a task that is not in the plan",
      [plan(), task("in_progress", "x", { assigned_agent: "editor" })],
      [],
    ],
    ["works on a task that requires no role", [plan({ required_role: "" }), begun("editor")], []],
    [
      "is named by the plan although another member has the role",
      [plan({ assigned_agent: "editor" }), begun("editor")],
      [4],
    ],
    [
      "is named by the plan when no member has the role",
      [plan({ required_role: "Poet", assigned_agent: "editor" }), begun("editor")],
      [],
    ],
  ])("checks a task of an agent that %s", (_how, events, seqs) => {
    expect(findingsOf(log(crew, ...events)).map(({ seq }) => seq)).toEqual(seqs);
  });
});
