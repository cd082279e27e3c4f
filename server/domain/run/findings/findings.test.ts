import { readFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { RunEvent } from "../events";
import { FINDING_KINDS, type FindingKind, findingsOf } from ".";
import {
  by,
  checked,
  crew,
  done,
  event,
  failure,
  finished,
  log,
  modelReply,
  parsed,
  planned,
  post,
  tool,
  usage,
} from "./testing";

const folder = path.resolve(import.meta.dirname, "../../../runner/journals");
const recorded = JSON.parse(gunzipSync(readFileSync(path.join(folder, "v2.json.gz"))).toString("utf8")) as {
  name: string;
  turns: { events: RunEvent[] }[];
}[];

const eventsOf = ({ turns }: (typeof recorded)[number]) => turns.flatMap(({ events }) => events);
/** Its worker, a script, gives after the checker's "not yet" what it gave before: that is true of it. */
const NOT_CLEAN = "crew: custom";

test("what is found in recorded runs is true: work sent back that came again as it was", () => {
  const [custom] = recorded.filter(({ name }) => name === NOT_CLEAN).map((one) => findingsOf(eventsOf(one)));
  expect(custom?.map(({ kind, seq, agent_id }) => [kind, seq, agent_id])).toEqual([
    ["feedback_unread", 37, "worker"],
  ]);
  expect(recorded.filter(({ name }) => name.startsWith("template")).length).toBeGreaterThan(10);
});

test.each(recorded.filter(({ name }) => name !== NOT_CLEAN).map((one) => [one.name, eventsOf(one)] as const))(
  "nothing is found in a run that went well: %s",
  (_name, events) => {
    expect(findingsOf(events)).toEqual([]);
  },
);

/** Runs in which exactly one thing went wrong. */
const made: Record<FindingKind, RunEvent[]> = {
  repeated_step: log(...tool("writer", "look"), ...tool("writer", "look"), ...tool("writer", "look")),
  history_lost: log(
    ...tool("writer", "look", { page: 1 }),
    event(
      "context_condensed",
      { kind: "summarised", from: 1, to: 4, tokens_before: 90, tokens_after: 20 },
      by("writer"),
    ),
    ...tool("writer", "look", { page: 1 }),
  ),
  input_cut: log(
    event(
      "warning",
      { code: "VALUE_CUT", message: '"report" is too long for the model of writer.' },
      by("writer"),
    ),
  ),
  work_overwritten: log(
    event("state_conflict", {
      key: "draft",
      writers: ["start#1", "work#1"],
      winner: "work#1",
      policy: "topological_order",
    }),
  ),
  end_not_noticed: log(
    event("agent_finished", { status: "failed", error: failure, usage: usage(1), cost_usd: 0 }, by("writer")),
  ),
  not_verified: log(crew, planned(), done),
  verified_too_early: log(
    crew,
    planned(),
    checked(true),
    event("task_status_changed", { from: "in_progress", to: "completed" }, { task_id: "draft" }),
    done,
  ),
  check_passed_over: log(crew, planned(), checked(false), done),
  wrong_tool: log(
    event(
      "tool_call_refused",
      { tool_name: "publish", args: {}, status_code: 403, reason: "Your role may not." },
      { ...by("writer"), call_id: "x" },
    ),
  ),
  wrong_worker: log(
    crew,
    planned({ success_criteria: [] }),
    event(
      "task_status_changed",
      { from: "pending", to: "in_progress", assigned_agent: "editor" },
      { task_id: "draft" },
    ),
    event("task_status_changed", { from: "in_progress", to: "completed" }, { task_id: "draft" }),
    done,
  ),
  plan_not_done: log(
    crew,
    planned({
      tasks: [{ task_id: "draft", description: "Write it", status: "blocked" }],
      success_criteria: [],
    }),
    done,
  ),
  ping_pong: log(
    crew,
    post("writer", "editor", "Thank you!"),
    post("editor", "writer", "You are welcome."),
    post("writer", "editor", "Have a nice day."),
    post("editor", "writer", "You too!"),
    done,
  ),
  feedback_unread: log(
    crew,
    modelReply("writer", "A draft."),
    post("editor", "writer", "Add an example, please.", { outcome: "reject" }),
    modelReply("writer", "a  draft."),
    done,
  ),
  wrong_form: log(parsed, parsed),
  budget_eaten: log(
    modelReply("writer", "long", 900),
    modelReply("editor", "short", 100),
    event("budget_exceeded", { metric: "total_tokens", used: 1000, limit: 1000 }, by("editor")),
  ),
  question_unanswered: log(
    crew,
    post("writer", "editor", "Which title?", { kind: "question" }),
    done,
    finished(),
  ),
  vote_missing: log(
    event("vote_cast", {
      proposal_id: "p",
      round: 1,
      agent_id: "editor",
      vote: "abstain",
      reasoning: "",
      confidence: null,
      forced: true,
    }),
  ),
  failure_passed_over: log(
    event("node_failed", { attempt: 1, error: failure, next: "continue" }),
    finished(),
  ),
};

test.each(Object.entries(made))(
  "%s is found in a run where it happened, and nothing else",
  (kind, events) => {
    const found = findingsOf(events);
    expect(found.map((one) => one.kind)).toEqual([kind]);
    for (const { seq, said: text, advice } of found) {
      expect(events[seq - 1]).toBeDefined();
      expect([text.at(-1), advice.at(-1)]).toEqual([expect.stringMatching(/[.!?]/), "."]);
    }
  },
);

test("a finding names its place, what happened and what to do", () => {
  expect(findingsOf(made.wrong_tool)).toEqual([
    {
      kind: "wrong_tool",
      seq: 2,
      node_id: "work",
      activation_id: "work#1",
      agent_id: "writer",
      said: "writer asked for publish, which is a tool of Editor.",
      advice: "Give the task to Editor, let it be delegated, or add the tool to this role.",
    },
  ]);
});

test("what is as it should be is not found: a check after the last task, a correction that worked, feedback that was heard", () => {
  const heard = log(
    crew,
    modelReply("writer", "A draft."),
    post("editor", "writer", "Add an example.", { outcome: "reject" }),
    modelReply("writer", "A draft with an example."),
    done,
  );
  const inTime = log(
    crew,
    planned(),
    event("task_status_changed", { from: "in_progress", to: "completed" }, { task_id: "draft" }),
    checked(true),
    done,
  );
  const pages = log(
    ...[1, 2, 3, 4].flatMap((page) => tool("writer", "look", { page })),
    ...tool("editor", "look", { page: 1 }),
  );
  const declined = log(
    event(
      "agent_started",
      { role_name: "Writer", output_keys: [], limits: { max_iterations: 3 }, tools: ["write"] },
      by("writer"),
    ),
    event(
      "tool_call_refused",
      { tool_name: "write", args: {}, status_code: 403, reason: "A person declined this call" },
      { ...by("writer"), call_id: "x" },
    ),
  );
  expect([heard, inTime, pages, declined, log(parsed)].map((events) => findingsOf(events))).toEqual([
    [],
    [],
    [],
    [],
    [],
  ]);
});

test("every kind has a name that people read", () => {
  expect(Object.keys(made)).toEqual(Object.keys(FINDING_KINDS));
});
