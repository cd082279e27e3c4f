import { expect, test } from "vitest";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { fakeModels, newStage, role } from "../testing";

const team = ["analyst", "coder", "tester"];

test("other tasks continue while a person decides about a failed one", async () => {
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  const models = fakeModels(async ({ messages }) => {
    if (String(messages[0]?.content).includes("You are analyst")) throw new Error("no net");
    await gate;
    return "done";
  });
  const graph = draw("start > crew > end", {
    crew: {
      node_type: "crew_task",
      output_keys: ["result"],
      config: {
        crew: {
          process: "parallel",
          on_task_failure: "escalate",
          agents: team.map((name) => ({ agent_id: name, role_name: name })),
        },
        plan: {
          tasks: [
            { task_id: "a", description: "do a", assigned_agent: "analyst" },
            { task_id: "b", description: "do b", assigned_agent: "coder" },
            { task_id: "c", description: "do c", assigned_agent: "tester", dependencies: ["b"] },
          ],
        } as unknown as JsonObject,
      },
    },
  });
  const stage = newStage({ models });
  const id = stage.start(graph, { roles: team.map(role) });
  const state = () => stage.store.state(id)!;
  const question = () => Object.values(state().interactions).find(({ status }) => status === "open");
  await expect.poll(() => question()?.requested.title).toBe('"a" failed. Continue without it?');
  release();
  const b = () => Object.values(state().plans)[0]!.tasks[1]!.status;
  await expect.poll(b).toBe("completed");
  const open = question()!;
  stage.host.steering.answer(id, open.id, open.requested.fingerprint, { answer: "approve", by: "ann" });
  await stage.host.settled(id);
  expect(state().run.final_status).toBe("COMPLETED");
  expect(Object.values(state().plans)[0]!.tasks.map(({ status }) => status)).toEqual([
    "skipped",
    "completed",
    "completed",
  ]);
});
