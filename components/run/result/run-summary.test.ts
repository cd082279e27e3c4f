import { expect, test } from "vitest";
import { NO_USAGE } from "@/server/domain/agent/outcome";
import { foldRun } from "@/server/domain/run";
import type { NewEvent } from "@/server/domain/run/events";
import { completed, created, failedWith, logOf, of, over, ready, started } from "@/server/domain/run/testing";
import { draw } from "@/server/domain/testing/drawing";
import { approvalRun } from "../run-example";
import { runSummary } from "./run-summary";

const task = {
  node_type: "agent_task",
  config: { required_role: "Worker", task_description_template: "Work" },
};
const graph = draw("start > a > b > gate; gate Approve> c > end; gate Reject> d > enddone", {
  a: task,
  b: task,
  c: task,
  d: task,
  gate: {
    node_type: "approval_gate",
    name: "Your decision",
    config: { title: "Good?", options: ["Approve", "Reject"] },
  },
});
const begin: NewEvent[] = [created(graph), { type: "run_started", payload: {} }];
const worked = (id: string, role_name: string): NewEvent[] => [
  ready(id),
  started(id),
  {
    ...of(id, "agent_started", { role_name, output_keys: [], limits: { max_iterations: 1 } }),
    agent_id: id,
  },
  completed(id),
];
const summary = (...events: NewEvent[]) => runSummary(foldRun("r", logOf([...begin, ...events])));

test("an approval summary shows who decided, the number of calls and the duration", () => {
  expect(runSummary(foldRun("run_1", approvalRun))).toBe("Approved by ApprovalAgent · 1 call · $0 · 2.9 s");
});

test("an active run has no summary", () => {
  expect(runSummary(foldRun("run_1", approvalRun.slice(0, -1)))).toBe("");
});

test("consecutive agents share a clause, and a person's decision is one clause", () => {
  expect(
    summary(
      ...worked("a", "Researcher"),
      ...worked("b", "Writer"),
      ready("gate"),
      started("gate"),
      of("gate", "interaction_requested", {
        interaction_id: "q",
        kind: "approval",
        title: "Good?",
        why: "",
        fingerprint: "",
        expires_at: 0,
      }),
      of("gate", "router_decided", { kind: "function", labels: ["Reject"] }),
      of("gate", "node_completed", { output: {}, written_keys: [], labels: ["Reject"] }),
      ...worked("d", "NotificationAgent"),
      over(),
    ),
  ).toMatch(
    /^Researcher and Writer ran, then a person rejected it, then NotificationAgent ran · 0 calls · \$0 · /,
  );
});

test("a summary names the person who overrode a router instead of the router's choice", () => {
  expect(
    summary(
      ready("gate"),
      started("gate"),
      of("gate", "router_decided", { kind: "function", labels: ["Reject"] }),
      of("gate", "next_overridden", { to: "c", by: "ann" }),
      of("gate", "node_completed", { output: {}, written_keys: [], labels: ["Reject"] }),
      ...worked("c", "Writer"),
      over(),
    ),
  ).toMatch(/^A person sent the run to c, then Writer ran · /);
});

test("the calls of runs that a node started count", () => {
  const usage = { ...NO_USAGE, input_tokens: 30, output_tokens: 6, requests: 3 };
  const item = (at: number) => [
    of("b", "child_started", { run_id: `r${at}`, workflow_name: "Letters", item: at }),
    of("b", "child_finished", {
      ...{ run_id: `r${at}`, item: at, final_status: "COMPLETED" as const, usage, cost_usd: 0 },
      ...{ unknown_cost_calls: 0, taint_sources: [], simulated: false },
    }),
  ];
  expect(
    summary(
      ...worked("a", "Writer"),
      ready("b"),
      started("b"),
      of("b", "map_started", { total: 2 }),
      ...item(0),
      ...item(1),
      completed("b"),
      over(),
    ),
  ).toMatch(/^Writer ran · 6 calls · /);
});

test("a node that ran repeatedly is mentioned once with a count", () => {
  expect(summary(...worked("a#1", "Developer"), ...worked("a#2", "Developer"), over())).toMatch(
    /^Developer \(2 times\) ran · /,
  );
});

test("the summary of a failed run names the failed node", () => {
  expect(
    summary(
      ready("a"),
      started("a"),
      failedWith("a", "fail_run"),
      over({ final_status: "ERROR", reason_code: "CONFIG" }),
    ),
  ).toMatch(/^Failed at a · 0 calls/);
});
