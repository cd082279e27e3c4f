import { describe, expect, test } from "vitest";
import { builtinRoles } from "@/server/domain/roles/builtin";
import { inputFields } from "@/server/domain/run-input";
import { newModels } from "@/server/llm/models";
import { newOfflineFetch } from "@/server/llm/offline";
import { memoryProviders, offlineProvider } from "@/server/llm/testing";
import { templates } from "@/server/templates";
import { newStage } from "./testing";

const offline = () =>
  newModels({ providers: memoryProviders([offlineProvider]), offlineFetch: newOfflineFetch({ speed: 0 }) });

describe("every template runs on the offline demo model as it is", () => {
  for (const { key, graph } of templates)
    test(key, async () => {
      const input = Object.fromEntries(
        inputFields(graph).map((field) => [field.key, "Please approve my vacation for next week."]),
      );
      const { state } = await newStage({ models: offline() }).run(graph, { input, roles: builtinRoles });
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

  test("approves a vacation and carries it out", async () => {
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

  test("rejects a large amount and tells the person", async () => {
    const { state } = await ask("Please approve 5000 dollars for a new desk.");
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
    inputFields(graph).map((field) => [field.key, "A function that reverses a list"]),
  );
  const { events } = await newStage({ models: offline() }).run(graph, { input, roles: builtinRoles });
  expect(events.flatMap((event) => (event.type === "router_decided" ? event.payload.labels : []))).toEqual([
    "revise",
    "approve",
  ]);
  expect(events.filter(({ type }) => type === "loop_iteration")).toHaveLength(1);
});
