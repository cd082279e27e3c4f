import { expect, test } from "vitest";
import { NO_USAGE } from "@/server/domain/agent/outcome";
import { RoleDefinition } from "@/server/domain/agent/role";
import type { NewEvent, Payloads } from "./events";
import { openInteractions, openQuestions } from "./questions/open-questions";
import { agentStarted, completed, crewRun, fold, of, over } from "./testing";
import { workDone, workSince } from "./work-done";

const { running } = crewRun({
  members: { ann: "Writer", bob: "Reader" },
  roles: [RoleDefinition.parse({ name: "Writer", icon: "pen", color: "red" })],
});
const ended = (
  agent_id: string,
  status: Payloads["agent_finished"]["status"],
  task_id: string,
  role = agent_id === "ann" ? "Writer" : "Reader",
) => [
  agentStarted(agent_id, role, task_id),
  of("crew", "agent_finished", { status, usage: NO_USAGE, cost_usd: 0 }, { agent_id, task_id }),
];
const question = (
  interaction_id: string,
  kind: Payloads["interaction_requested"]["kind"],
  more: object = {},
  agent_id: string | null = "ann",
) =>
  of(
    "crew",
    "interaction_requested",
    { interaction_id, kind, title: "?", why: "", fingerprint: "f", expires_at: 900, ...more },
    agent_id === null ? {} : { agent_id },
  );
const answer = (interaction_id: string, word: Payloads["interaction_answered"]["answer"]) =>
  of("crew", "interaction_answered", { interaction_id, answer: word, by: "eve" });
const review = { args: { output: "x" } };
const row = (agent_id: string, role_name: string, counts: object) => ({
  node_id: "crew",
  crew_id: "",
  agent_id,
  role_name,
  done: 0,
  failed: 0,
  sent_back: 0,
  ...counts,
});

test("work of members is counted by its outcome, including reviews that people rejected", () => {
  const s = fold(
    ...running,
    ...ended("ann", "completed", "1"),
    ...ended("ann", "handed_off", "2"),
    ...ended("ann", "failed", "3"),
    ...ended("ann", "rejected", "4"),
    ...ended("ann", "stopped", "5"),
    ...ended("ann", "completed", "6", "Judge"),
    ...ended("eve", "completed", "7"),
    agentStarted("bob", "Reader"),
    ...[
      question("q1", "review", review),
      question("q2", "review", review, "bob"),
      question("q3", "review"),
      question("q4", "approval", review),
      question("q5", "review", review),
      question("q6", "review", review, null),
      question("q7", "review", review, "eve"),
    ],
    ...["q1", "q2", "q3", "q4", "q6", "q7"].map((id) => answer(id, "reject")),
    answer("q5", "approve"),
  );
  expect(workDone(s)).toEqual([
    row("ann", "Writer", { done: 2, failed: 2, sent_back: 1 }),
    row("bob", "Reader", { sent_back: 1 }),
  ]);
  expect(workDone(fold(...running))).toEqual([]);
});

test("work that was already counted is not counted again", () => {
  const counted = [row("ann", "Writer", { done: 2, failed: 1, sent_back: 1 })];
  const done = [
    row("ann", "Writer", { done: 5, failed: 1, sent_back: 3 }),
    row("bob", "Reader", { done: 1 }),
  ];
  expect(workSince(done, counted)).toEqual([
    row("ann", "Writer", { done: 3, sent_back: 2 }),
    row("bob", "Reader", { done: 1 }),
  ]);
  const otherNode = [{ ...row("ann", "Writer", { done: 2 }), node_id: "other" }];
  expect(workSince(done, otherNode)).toEqual(done);
});

test("an open question names the agent that asks, with its role", () => {
  const asks = (events: NewEvent[]) =>
    openQuestions(fold(...events)).map(({ ask, ...rest }) => ({ id: ask.id, ...rest }));
  const events = [
    ...running,
    agentStarted("ann", "Writer", "t"),
    agentStarted("bob", "Reader"),
    { ...question("q1", "review", { urgency: "high", assigned_to: "lead" }), task_id: "t" } as NewEvent,
    { ...question("q2", "review", {}, "bob"), task_id: "u" } as NewEvent,
    question("q3", "review", {}, "eve"),
    question("q4", "review", {}, null),
  ];
  const usual = { urgency: "normal", assigned_to: null };
  const node_name = "Crew";
  expect(asks(events)).toEqual([
    {
      id: "q1",
      urgency: "high",
      assigned_to: "lead",
      asker: { node_name, agent_id: "ann", role: { name: "Writer", icon: "pen", color: "red" } },
    },
    { id: "q2", ...usual, asker: { node_name, agent_id: "bob", role: { name: "Reader" } } },
    { id: "q3", ...usual, asker: { node_name, agent_id: "eve" } },
    { id: "q4", ...usual, asker: { node_name } },
  ]);
  expect(asks([...events, answer("q1", "approve"), completed("crew")])).toEqual([]);
  expect(openInteractions(fold(...events, over({ final_status: "INCOMPLETE" })))).toEqual([]);
});

test("a question of a node without a name shows the node's id", () => {
  const [created, ...rest] = running as [NewEvent & { type: "run_created" }, ...NewEvent[]];
  const { graph } = created.payload;
  const nodes = { ...graph.nodes, crew: { ...graph.nodes.crew!, name: "" } };
  const nameless: NewEvent = { ...created, payload: { ...created.payload, graph: { ...graph, nodes } } };
  const [asked] = openQuestions(fold(nameless, ...rest, question("q", "review", {}, null)));
  expect(asked?.asker).toEqual({ node_name: "crew" });
});
