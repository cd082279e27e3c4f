import { describe, expect, test } from "vitest";
import { z } from "zod";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { inputFields } from "@/server/domain/graph/run-input";
import type { RunEvent, RunEventOf } from "@/server/domain/run/events";
import { newModels } from "@/server/llm/models";
import { newOfflineFetch } from "@/server/llm/offline";
import { memoryProviders, offlineProvider } from "@/server/llm/testing";
import { templates } from "@/server/templates";
import { defineTool } from "@/server/tools/define";
import { fakeTools, newStage } from "./testing";

const offline = () =>
  newModels({ providers: memoryProviders([offlineProvider]), offlineFetch: newOfflineFetch({ speed: 0 }) });

describe("every template runs unchanged on the offline demo model", () => {
  for (const { key, graph } of templates)
    test(key, async () => {
      const input = Object.fromEntries(
        inputFields(graph).map((field) => [field.key, "Please approve my vacation for next week."]),
      );
      const { state } = await newStage({ models: offline() }).run(graph, {
        input,
        roles: builtinRoles,
        agrees: true,
      });
      expect(state.run).toMatchObject({
        final_status: "COMPLETED",
        reason_code: "END_REACHED",
        simulated: true,
        warnings: [],
      });
      expect(state.totals.cost_usd).toBe(0);
    });
});

describe("the approval workflow of the reference documents", () => {
  const graph = templates.find(({ key }) => key === "approval")!.graph;
  const ask = (user_request: string) =>
    newStage({ models: offline() }).run(graph, { input: { user_request }, roles: builtinRoles });

  test("the approval workflow approves a vacation and executes it", async () => {
    const { state } = await ask("Please approve my vacation for next week.");
    expect(state.state).toMatchObject({
      approval_status: "approved",
      approver_comments: expect.any(String) as string,
      action_result: expect.any(String) as string,
    });
    expect(state.nodes).toMatchObject({
      node_end_approved: { status: "completed" },
      node_end_rejected: { status: "skipped" },
      node_rejected_action: { status: "skipped" },
    });
  });

  test("the approval workflow rejects a request and notifies the person", async () => {
    const { state } = await ask(
      'A new desk. [[offline: json {"approval_status": "rejected", "approver_comments": "Too much."}]]',
    );
    expect(state.state).toMatchObject({
      approval_status: "rejected",
      notification_status: expect.any(String) as string,
    });
    expect(state.nodes).toMatchObject({
      node_end_rejected: { status: "completed" },
      node_approved_action: { status: "skipped" },
    });
  });
});

test("the review loop sends the code back once, then approves it", async () => {
  const graph = templates.find(({ key }) => key === "code-and-review")!.graph;
  const input = Object.fromEntries(
    inputFields(graph).map((field) => [field.key, String((field.schema.examples as string[])[0])]),
  );
  const { events } = await newStage({ models: offline() }).run(graph, { input, roles: builtinRoles });
  expect(events.flatMap((event) => (event.type === "router_decided" ? event.payload.labels : []))).toEqual([
    "revise",
    "approve",
  ]);
  expect(events.filter(({ type }) => type === "loop_iteration")).toHaveLength(1);
});

describe("crew processes in their templates", () => {
  const of = <T extends RunEvent["type"]>(events: readonly RunEvent[], type: T): RunEventOf<T>["payload"][] =>
    events.flatMap((event) => (event.type === type ? [event.payload as RunEventOf<T>["payload"]] : []));
  /** Runs a template with the example that its form offers. */
  async function tried(key: string, input: Record<string, string> = {}) {
    const { graph } = templates.find((template) => template.key === key)!;
    const search = defineTool({
      name: "web_search",
      description: "Searches the web.",
      input: z.object({ query: z.string(), count: z.number().optional() }),
      source: "builtin",
      risk: "LOW",
      read_only: true,
      taints: true,
      execute: ({ query }) => ({ results: [{ title: "Bees in town", text: `About ${query}` }] }),
    });
    const tools = fakeTools([search]);
    const examples = Object.fromEntries(
      inputFields(graph).map((field) => [field.key, String((field.schema.examples as string[])[0])]),
    );
    const run = await newStage({ models: offline(), tools }).run(graph, {
      input: { ...examples, ...input },
      roles: builtinRoles,
    });
    expect(run.state.run).toMatchObject({ final_status: "COMPLETED", warnings: [] });
    return { ...run, calls: tools.calls };
  }

  test("the research crew searches only with the permitted agent and builds on earlier results", async () => {
    const { events, state, calls } = await tried("research-crew");
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatch(/^scout web_search \{"query":"Do bees/);
    expect(of(events, "task_status_changed").filter(({ to }) => to === "completed")).toHaveLength(3);
    expect(state.state.report).toMatch(/^Demo answer of Writer: /);
  });

  test("the manager messages every worker, keeps a correct ledger and combines all parts", async () => {
    const { events, state } = await tried("data-analysis", { data: "mon 5, tue 10, wed 15" });
    const posts = of(events, "post_sent").map(({ from, to }) => `${from} > ${to}`);
    expect(posts).toEqual([
      "manager > interpreter",
      "interpreter > manager",
      "manager > analyst",
      "analyst > manager",
      "manager > writer",
      "writer > manager",
      "manager > User",
    ]);
    expect(of(events, "ledger_updated").map(({ ledger }) => ledger.is_request_satisfied?.answer)).toEqual([
      false,
      false,
      false,
      true,
    ]);
    expect(of(events, "ledger_updated").every(({ stalls }) => stalls === 0)).toBe(true);
    expect(state.state.answer).toMatch(/interpreter: [\s\S]*analyst: [\s\S]*writer: /);
  });

  test("the support desk hands an invoice question to billing once", async () => {
    const { events, state } = await tried("support-desk");
    expect(of(events, "handed_off")).toMatchObject([{ from: "front_desk", to: "billing", count: 1 }]);
    expect(state.state.reply).not.toBe("");
  });

  test("the support desk answers a general question at the front desk", async () => {
    const { events } = await tried("support-desk", { request: "When do you open?" });
    expect(of(events, "handed_off")).toEqual([]);
  });

  test("the consensus crew disagrees in the first round and agrees in the second", async () => {
    const { events, state } = await tried("consensus");
    expect(
      of(events, "vote_cast").map(({ round, agent_id, vote }) => `${round} ${agent_id} ${vote}`),
    ).toEqual([
      "1 chair approve",
      "1 researcher approve",
      "1 analyst reject",
      "1 writer approve",
      "2 chair approve",
      "2 researcher approve",
      "2 analyst approve",
      "2 writer approve",
    ]);
    expect(of(events, "consensus_finalized")).toMatchObject([{ outcome: "approved", decided_by: "votes" }]);
    expect(state.nodes.approved!.status).toBe("completed");
  });

  test("the review cycle rejects once, then approves and tests until ready", async () => {
    const { events, state } = await tried("review-cycle");
    expect(
      of(events, "post_sent").map(({ from, to, message }) => `${from} > ${to} ${/^\w+/.exec(message)?.[0]}`),
    ).toEqual([
      "coder > reviewer success",
      "reviewer > coder reject",
      "coder > reviewer success",
      "reviewer > tester approve",
      "tester > User ready",
    ]);
    expect(state.state).toMatchObject({ outcome: "ready" });
    expect(state.state.code_generation).toContain("RangeError");
  });

  test("the development team waits for all members at both sync points, and the lead joins their work", async () => {
    const { events, state } = await tried("development-team");
    const done = events.flatMap((event) =>
      event.type === "task_status_changed" && event.payload.to === "completed" ? [event.task_id!] : [],
    );
    expect(done.slice(0, 3).sort()).toEqual(["api_design", "data_design", "page_design"]);
    expect(done[3]).toBe("sync_design_review");
    expect(done.slice(4, 7).sort()).toEqual(["api", "data", "page"]);
    expect(done[7]).toBe("sync_integration_testing");
    expect(state.state.result).toMatch(/\w/);
  });
});
