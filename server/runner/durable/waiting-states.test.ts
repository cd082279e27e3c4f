import { afterEach, expect, test, vi } from "vitest";
import { agent, call, calls, crewGraph, role, tool } from "@/server/conformance/stage";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { RunEvent } from "@/server/domain/run/events";
import type { PersonsAnswer } from "@/server/domain/run/questions/tool-question";
import { draw } from "@/server/domain/testing/drawing";
import { newScriptedModels, type ScriptedStep } from "@/server/llm/scripted";
import { cutAt, fakeTools, newStage } from "../testing";

/*
 * The server ends at once while a run waits for a person, in each way in which one can. What is there afterwards is what
 * the log holds; the answer is given to the new process, and the run goes on once.
 */

const HOUR = 3_600_000;
afterEach(() => void vi.useRealTimers());

interface Waits {
  graph: WorkflowGraph;
  steps?: ScriptedStep[];
  roles?: ReturnType<typeof role>[];
  config?: object;
  answer: PersonsAnswer;
  /** A person has paused it, too. */
  isPaused?: true;
}

const gate = (config: object = {}) =>
  draw("start > gate; gate approved> act > end; gate rejected> bad", {
    gate: {
      node_type: "approval_gate",
      output_keys: ["decision"],
      config: { title: "Go on?", options: ["approved", "rejected"], ...config },
    },
    act: { node_type: "tool_call", config: { tool_name: "note", args: { text: "x" } } },
    bad: { node_type: "end" },
  });
const chosen = (option: string): PersonsAnswer => ({ answer: "chosen", option });

const states: Record<string, Waits> = {
  "at a gate": { graph: gate(), answer: chosen("approved") },
  "at a gate that holds the whole run": { graph: gate({ mode: "sync" }), answer: chosen("approved") },
  "at a gate, paused": { graph: gate(), answer: chosen("approved"), isPaused: true },
  "at a form": {
    graph: draw("start > form > act > end", {
      form: {
        node_type: "user_input",
        output_keys: ["name"],
        config: { title: "Who?", schema: { type: "object", properties: { name: { type: "string" } } } },
      },
      act: { node_type: "tool_call", config: { tool_name: "note", args: { text: "x" } } },
    }),
    answer: { answer: "given", value: { name: "Ann" } },
  },
  "at a limit of the run": {
    graph: draw("start > a > act > end", {
      act: { node_type: "tool_call", config: { tool_name: "note", args: { text: "x" } } },
    }),
    config: { max_steps: 2, on_limit: "ask" },
    answer: chosen("raise"),
  },
  "at a tool that is to be allowed": {
    graph: draw("start > work > end", {
      work: {
        node_type: "agent_task",
        output_keys: ["answer"],
        config: { required_role: "Worker", task_description_template: "Work." },
      },
    }),
    roles: [role("Worker", ["risky"])],
    steps: [calls(call("risky", { text: "x" })), { text: "done" }],
    answer: { answer: "approve" },
  },
  "at the result of a crew's task": {
    graph: crewGraph(
      { process: "sequential", agents: [agent("ann")] },
      {
        tasks: [{ task_id: "t", description: "do t", assigned_agent: "ann", human_review: true }],
      },
    ),
    roles: [role("ann")],
    steps: [{ text: "done" }],
    answer: { answer: "approve" },
  },
};

const parts = (steps: readonly ScriptedStep[]) => ({
  models: newScriptedModels(steps),
  tools: fakeTools([tool("note"), tool("risky", { risk: "HIGH", read_only: false })]),
});
const kindsOf = (events: readonly RunEvent[]) =>
  events.map(({ type }) => type).filter((type) => type !== "run_recovered");

test.each(Object.entries(states))("ended at once %s, it goes on once", async (_where, waits) => {
  const { graph, steps = [], roles = [], config = {}, answer, isPaused } = waits;
  const openIn = (stage: ReturnType<typeof newStage>, id: string) =>
    Object.values(stage.store.state(id)?.interactions ?? {}).find(({ status }) => status === "open");
  const come = async () => {
    const stage = newStage(parts(steps));
    const id = stage.start(graph, { roles, config });
    await expect.poll(() => openIn(stage, id)).toBeDefined();
    await expect.poll(() => stage.store.find(id)!.status).toBe("waiting");
    if (isPaused) {
      void stage.host.steering.command(id, { kind: "pause" }, "bo");
      await expect.poll(() => stage.store.find(id)!.status).toBe("paused");
    }
    return { stage, id };
  };
  const goOn = async (stage: ReturnType<typeof newStage>, id: string) => {
    const { id: question, requested } = openIn(stage, id)!;
    const give = () =>
      stage.host.steering.answer(id, question, requested.fingerprint, { ...answer, by: "ann" });
    // Two answers at once: one counts.
    expect([give(), give()]).toEqual([true, false]);
    if (isPaused) {
      await expect.poll(() => openIn(stage, id)).toBeUndefined();
      void stage.host.steering.command(id, { kind: "resume" }, "bo");
    }
    await expect.poll(() => stage.store.find(id)!.status).toBe("finished");
    await stage.host.settled(id);
    return stage.store.events(id, 0, 1e6);
  };

  const whole = await come();
  const uninterrupted = await goOn(whole.stage, whole.id);
  const before = await come();
  // What is left to say is said to the new process.
  const left = parts(
    steps.slice(
      before.stage.store.events(before.id, 0, 1e6).filter(({ type }) => type === "llm_call_completed").length,
    ),
  );
  const after = newStage({ ...left, db: cutAt(before.stage, before.id, 1e6) });
  after.host.recover();
  const events = await goOn(after, before.id);
  expect(kindsOf(events)).toEqual(kindsOf(uninterrupted));
  expect(after.store.state(before.id)!.run.final_status).toBe("COMPLETED");
});

test("reminders and escalations missed during downtime are made up for, once each", async () => {
  const first = newStage(parts([]));
  const id = first.start(gate({ timeout_s: 36_000, escalation: [{ after_s: 7200, to: "the lead" }] }));
  await expect.poll(() => first.store.find(id)?.status).toBe("waiting");
  const clock = { now: () => Date.now() + 6 * HOUR, monotonic: () => performance.now() };
  const second = newStage({ ...parts([]), db: cutAt(first, id, 1e6), clock });
  second.host.recover();
  const countEvents = (type: RunEvent["type"]) =>
    second.store.events(id, 0, 1e6).filter((event) => event.type === type).length;
  await expect
    .poll(() => [countEvents("interaction_reminded"), countEvents("interaction_escalated")])
    .toEqual([1, 1]);
  const open = second.store.state(id)!.interactions["gate#1/1/approval"]!;
  expect([open.status, open.requested.assigned_to]).toEqual(["open", "the lead"]);
  const third = newStage({ ...parts([]), db: cutAt(second, id, 1e6), clock });
  third.host.recover();
  third.host.steering.answer(id, open.id, open.requested.fingerprint, { ...chosen("approved"), by: "ann" });
  await expect.poll(() => third.store.find(id)!.status).toBe("finished");
  const types = third.store.events(id, 0, 1e6).map(({ type }) => type);
  expect(
    types.filter((type) => type === "interaction_reminded" || type === "interaction_escalated"),
  ).toHaveLength(2);
});

test.each([
  ["reject", {}, ["rejected", "bad"]],
  ["approve", {}, ["approved", "end"]],
  ["default", { default_response: "approved" }, ["approved", "end"]],
  ["continue", {}, ["timeout", "late"]],
  ["fail", {}, [null, "failed"]],
  ["escalate", { escalation: [{ after_s: 600, to: "the lead" }] }, [null, "failed"]],
])(
  "an overdue question can still be answered after a restart, and then its timeout applies: %s",
  async (on_timeout, more, [decision, way]) => {
    const graph = draw(
      "start > gate; gate approved> act > end; gate rejected> bad; gate timeout> late; gate !> failed",
      {
        gate: {
          node_type: "approval_gate",
          output_keys: ["decision"],
          config: {
            title: "Go on?",
            options: ["approved", "rejected"],
            timeout_s: 3600,
            on_timeout,
            ...more,
          },
        },
        act: { node_type: "tool_call", config: { tool_name: "note", args: { text: "x" } } },
        bad: { node_type: "end" },
        late: { node_type: "end" },
        failed: { node_type: "end" },
      },
    );
    const first = newStage(parts([]));
    const id = first.start(graph);
    await expect.poll(() => first.store.find(id)?.status).toBe("waiting");
    const db = cutAt(first, id, 1e6);
    vi.useFakeTimers({
      toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date", "performance"],
      now: Date.now() + 6 * HOUR,
    });
    const second = newStage({ ...parts([]), db });
    second.host.recover();
    await vi.advanceTimersByTimeAsync(4 * 60_000);
    expect(second.store.find(id)?.status).toBe("waiting");
    for (let k = 0; k < 60 && second.store.find(id)?.status !== "finished"; k++)
      await vi.advanceTimersByTimeAsync(2_000);
    const { state, nodes } = second.store.state(id)!;
    expect([state.decision ?? null, nodes[way!]?.status]).toEqual([decision, "completed"]);
  },
);
