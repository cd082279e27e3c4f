import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { z } from "zod";
import { RoleDefinition } from "@/server/domain/agent/role";
import type { RunCommand } from "@/server/domain/run/commands/command";
import { draw } from "@/server/domain/testing/drawing";
import { newScriptedModels } from "@/server/llm/scripted";
import { defineTool } from "@/server/tools/define";
import { CANCEL } from "../durable/embedded-contract";
import { fakeModels, fakeTools, newStage, role } from "../testing";

type Stage = ReturnType<typeof newStage>;
const sendCommand = (stage: Stage, id: string, command: RunCommand) =>
  stage.host.steering.command(id, command, "ann");
const stateOf = (stage: Stage, id: string) => stage.store.state(id)!;
const status = (stage: Stage, id: string) => expect.poll(() => stage.store.find(id)?.status);
const asking = { config: { required_role: "Worker", task_description_template: "Do it." } };
const ask = { node_type: "agent_task" as const, output_keys: ["said"], ...asking };

/** A tool and a model that calls it once. */
function calling(read_only: boolean, execute: (signal: AbortSignal) => Promise<string> | string) {
  const tool = defineTool({
    name: "act",
    description: "Acts",
    input: z.object({}),
    source: "builtin",
    risk: "LOW",
    read_only,
    execute: (_input, { signal }) => execute(signal),
  });
  const models = newScriptedModels([
    { tool_calls: [{ id: "c1", tool_name: "act", args: {} }] },
    { text: "done" },
  ]);
  return {
    models,
    tools: fakeTools([tool]),
    roles: [RoleDefinition.parse({ name: "Worker", tools: ["act"] })],
  };
}

test.each([
  ["has side effects", false, ["tool_call"]],
  ["only reads", true, []],
] as const)(
  "human-in-the-loop mode stops only before side effects: a tool that %s",
  async (_what, read_only, stops) => {
    let made = 0;
    const { roles, ...parts } = calling(read_only, () => `made ${++made}`);
    const stage = newStage(parts);
    const id = stage.start(draw("start > ask > end", { ask }), { roles, config: { mode: "hitl" } });
    const stood: (string | undefined)[] = [];
    for (;;) {
      await status(stage, id).toMatch(/paused|finished/);
      if (stage.store.find(id)?.status === "finished") break;
      // Nothing has been done yet where it stands.
      expect(made).toBe(0);
      stood.push(stateOf(stage, id).run.paused_at?.point);
      await sendCommand(stage, id, { kind: "resume" });
    }
    expect([stood, made, stateOf(stage, id).run.final_status]).toEqual([[...stops], 1, "COMPLETED"]);
  },
);

test("a question asked while a run pauses can be answered, and the answer applies after the resume", async () => {
  const stage: Stage = newStage({
    models: fakeModels(() => {
      void sendCommand(stage, id, { kind: "pause" });
      return "done";
    }),
  });
  const gate = { node_type: "approval_gate", config: { title: "Go on?", options: ["yes", "no"] } } as const;
  const id: string = stage.start(
    draw("start > ask > end; start > gate; gate yes> end; gate no> end", { ask, gate: gate as never }),
    { roles: [role("Worker")] },
  );
  await status(stage, id).toBe("paused");
  const [open] = Object.values(stateOf(stage, id).interactions);
  expect(open?.status).toBe("open");
  const answered = stage.host.steering.answer(id, open?.id ?? "", open?.requested.fingerprint ?? "", {
    answer: "approve",
    option: "yes",
    by: "ann",
  });
  expect(answered).toBe(true);
  await pause(20);
  expect([stage.store.find(id)?.status, stateOf(stage, id).nodes.end?.status ?? null]).toEqual([
    "paused",
    null,
  ]);
  await sendCommand(stage, id, { kind: "resume" });
  await status(stage, id).toBe("finished");
  expect([stateOf(stage, id).run.final_status, stateOf(stage, id).nodes.gate?.status]).toEqual([
    "COMPLETED",
    "completed",
  ]);
});

test("a skipped node keeps the person's output, and a late answer of its call is ignored", async () => {
  let given: (() => void) | undefined;
  const stage: Stage = newStage({
    models: fakeModels(
      () =>
        new Promise((resolve) => {
          given = () => resolve("too late");
        }),
    ),
  });
  const id = stage.start(draw("start > ask > end", { ask }), { roles: [role("Worker")] });
  await expect.poll(() => given !== undefined).toBe(true);
  await sendCommand(stage, id, {
    kind: "skip_node",
    activation_id: "ask#1",
    output: { said: "from the editor" },
  });
  given?.();
  await status(stage, id).toBe("finished");
  const { run, state, calls, agents } = stateOf(stage, id);
  expect([run.final_status, state.said, Object.values(calls).map((call) => call.status)]).toEqual([
    "COMPLETED",
    "from the editor",
    ["stopped"],
  ]);
  expect(Object.values(agents).map((agent) => agent.status)).toEqual(["stopped"]);
  expect(stage.store.events(id, 0, 1e6).filter(({ type }) => type === "llm_call_completed")).toEqual([]);
});

test("a quarantined run that is cancelled names the command it accepted but never applied", async () => {
  const stage = newStage({ models: fakeModels(() => new Promise<never>(() => {})) });
  const id = stage.start(draw("start > ask > end", { ask }), { roles: [role("Worker")] });
  // The last event before the call's answer: a process that has ended writes nothing more.
  await expect
    .poll(() => stage.store.events(id, 0, 100).some(({ type }) => type === "llm_call_started"))
    .toBe(true);
  await stage.host.drain(0);
  const accepted = stage.store.command(id, { kind: "pause", by: "ann" }, 1);
  stage.store.hold(id, { code: "stopped_server", message: "It stopped the server.", at: 1 });
  const next = newStage({ db: stage.db });
  expect(next.host.cancel(id, { by: "ann", reason: "" })).toBe(true);
  await next.host.waiters.wait(id, CANCEL);
  expect(next.store.events(id, 1, 100).slice(-2)).toMatchObject([
    { type: "warning", command_id: accepted, payload: { code: "COMMAND_TOO_LATE" } },
    { type: "run_finished", command_id: "cancel" },
  ]);
  expect(stateOf(next, id).run.warnings).toHaveLength(1);
});
