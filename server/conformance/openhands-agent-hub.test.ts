import { describe, expect, test } from "vitest";
import {
  Action,
  AgentState,
  actionFromDict,
  actionOfCall,
  Observation,
  observationFromDict,
  observationOf,
  toDict,
  toMemory,
} from "@/server/domain/agent/hub";
import { foldRun } from "@/server/domain/run";
import type { RunEvent } from "@/server/domain/run/events";
import { agentStateOf, hubState } from "@/server/domain/run/hub-state";
import { ModelError } from "@/server/llm/model";
import { agent, call, calls, crewGraph, newScriptedStage, of, role, runCrew, tool } from "./stage";

// The promises of the reference "openhands-agent-hub" (README.md of this folder), in its order.

describe("State", () => {
  test("multi-agent state tracks the root task, subtasks, shared and local iterations and delegate levels", async () => {
    // CodeActAgent: I should request help from BrowsingAgent, and so on, as the document tells it.
    const { events, state } = await runCrew(
      [
        calls(
          call("delegate_task", { coworker: "BrowsingAgent", task: "How many stars has the repository?" }),
        ),
        calls(call("browse", { text: "github.com" })),
        { text: "It has 38 000 stars." },
        { text: "The repository has 38 000 stars." },
      ],
      { agents: [agent("CodeActAgent", { allow_delegation: true }), agent("BrowsingAgent")] },
      {
        roles: [role("BrowsingAgent", ["browse"]), role("CodeActAgent", ["browse"])],
        tools: [tool("browse")],
        plan: {
          tasks: [{ task_id: "stars", description: "tell me how many stars", required_role: "CodeActAgent" }],
        },
      },
    );
    const trace = of(events, "iteration_started").map(
      ({ delegate_level = 0, global_iteration, local_iteration }) =>
        `L${delegate_level} G${global_iteration} l${local_iteration}`,
    );
    expect(trace).toEqual(["L0 G0 l0", "L1 G1 l0", "L1 G2 l1", "L0 G3 l1"]);
    expect(of(events, "delegation_started")).toMatchObject([
      { from: "CodeActAgent", to: "BrowsingAgent", kind: "delegate", level: 1 },
    ]);
    expect(of(events, "delegation_finished")).toMatchObject([{ to: "BrowsingAgent", status: "completed" }]);
    expect(state.state.result).toBe("The repository has 38 000 stars.");
    const views = Object.values(state.agents);
    expect(views.map(({ agent_id, delegate_level }) => [agent_id, delegate_level])).toEqual([
      ["CodeActAgent", 0],
      ["BrowsingAgent", 1],
    ]);
    // A subtask is a conversation of its own; the delegator gets nothing of it but the result.
    const text = views[0]!.messages.map(({ content }) => content).join("\n");
    expect(text).toContain("delegate_task (200): It has 38 000 stars.");
    expect(text).not.toContain("github.com");
  });

  test("the running state accepts only the documented agent states", () => {
    for (const state of ["LOADING", "RUNNING", "PAUSED", "FINISHED", "ERROR", "AWAITING_USER_CONFIRMATION"])
      expect(AgentState.safeParse(state).success).toBe(true);
    expect(AgentState.safeParse("DREAMING").success).toBe(false);
  });

  const setup = { roles: [role("a", ["look"])], tools: [tool("look")] };
  const one = { agents: [agent("a")] };
  const plan = { tasks: [{ task_id: "t", description: "do it", required_role: "a" }] };
  /** The states that the only agent went through, one for each event of these types. */
  const statesAt = (events: readonly RunEvent[], ...types: RunEvent["type"][]) =>
    events.flatMap(({ type }, at) => {
      if (!types.includes(type)) return [];
      const state = foldRun("r", events.slice(0, at + 1));
      return [agentStateOf(state, Object.values(state.agents)[0]!)];
    });

  test("an agent's state goes from loading to running to finished, rejected or error", async () => {
    const moments = ["agent_started", "iteration_started", "agent_finished"] as const;
    for (const [step, end] of [
      [{ text: "done" }, "FINISHED"],
      [calls(call("reject_task", { reason: "no" })), "REJECTED"],
      [{ refusal: "no" }, "ERROR"],
    ] as const) {
      const { events } = await runCrew([step], one, { ...setup, plan });
      expect(statesAt(events, ...moments)).toEqual(["LOADING", "RUNNING", end]);
    }
  });

  test("confirmation mode waits for a person, who confirms or rejects", async () => {
    for (const [answer, then] of [
      ["approve", "USER_CONFIRMED"],
      ["reject", "USER_REJECTED"],
    ] as const) {
      const stage = newScriptedStage([calls(call("look", { text: "x" })), { text: "done" }], setup.tools);
      const id = stage.start(crewGraph(one, plan), {
        roles: setup.roles,
        config: { confirmation: { kind: "always" } },
      });
      await expect.poll(() => stage.store.find(id)?.status).toBe("waiting");
      const [asked] = Object.values(stage.store.state(id)!.interactions);
      expect(hubState(stage.store.state(id)!).confirmation_mode).toBe(true);
      stage.host.steering.answer(id, asked!.id, asked!.requested.fingerprint, { answer, by: "ann" });
      await stage.host.settled(id);
      expect(
        statesAt(stage.store.events(id, 0, 1e6), "interaction_requested", "interaction_answered"),
      ).toEqual(["AWAITING_USER_CONFIRMATION", then]);
    }
  });

  test("rate limits throttle a run, run limits pause it, and raising a limit continues it", async () => {
    const busy = new ModelError({
      code: "RATE_LIMIT",
      message: "Slow down.",
      retryable: true,
      user_action: "retry",
    });
    const throttled = await runCrew([{ error: busy }, { text: "done" }], one, { plan });
    expect(statesAt(throttled.events, "llm_call_failed")).toEqual(["RATE_LIMITED"]);
    const at = throttled.events.findIndex(({ type }) => type === "llm_call_failed");
    expect(hubState(foldRun("r", throttled.events.slice(0, at + 1))).traffic_control_state).toBe(
      "throttling",
    );
    expect(hubState(throttled.state).traffic_control_state).toBe("normal");

    const stage = newScriptedStage([calls(call("look", { text: "x" })), { text: "done" }], setup.tools);
    const { id, state } = await stage.run(crewGraph(one, plan), {
      roles: setup.roles,
      config: { max_global_iterations: 1 },
    });
    expect(hubState(state)).toMatchObject({
      root_task: { agent_state: "PAUSED" },
      subtasks: [{ agent_state: "PAUSED" }],
      traffic_control_state: "paused",
      iteration: 1,
      max_iterations: 1,
    });
    void stage.host.steering.raiseLimit(id, "max_global_iterations", 10, "ann");
    await stage.host.settled(id);
    expect(hubState(stage.store.state(id)!).root_task.agent_state).toBe("FINISHED");
  });

  test("the hub state reports an almost stuck agent, the last error and the task's data", async () => {
    const same = calls(call("look", { txt: "x" }));
    const { events, state } = await runCrew([same, same, same, same], one, { ...setup, plan });
    const stuckAt = events.findIndex(({ type }) => type === "stuck_detected");
    expect(hubState(foldRun("r", events.slice(0, stuckAt + 1))).subtasks[0]!.almost_stuck).toBe(1);
    const after = hubState(state);
    expect(after.subtasks[0]).toMatchObject({ agent_state: "ERROR", almost_stuck: 0 });
    expect(after.last_error).toMatch(/is stuck in a loop/);
    expect([after.start_id, after.end_id]).toEqual([1, events.length]);
    const done = await runCrew([{ text: "made" }], one, { plan });
    expect(hubState(done.state).extra_data).toEqual({ result: "made" });
  });

  test("metrics cover the whole task and each subtask", async () => {
    const { events, state } = await runCrew(
      [calls(call("delegate_task", { coworker: "b", task: "help" })), { text: "help" }, { text: "done" }],
      { agents: [agent("a", { allow_delegation: true }), agent("b")] },
      { plan: { tasks: [{ task_id: "t", description: "do it", required_role: "a" }] } },
    );
    const local = of(events, "agent_finished").map(({ usage }) => usage?.requests);
    expect(local).toEqual([1, 2]);
    expect(state.totals.usage.requests).toBe(3);
  });
});

describe("Actions and observations", () => {
  test("every documented action exists, and tool calls map to these actions", () => {
    const listed = [
      "run",
      "run_ipython",
      "read",
      "write",
      "browse",
      "add_task",
      "modify_task",
      "finish",
      "reject",
      "message",
    ];
    const known = Action.options.map((option) => option.shape.action.value as string);
    expect(known).toEqual(expect.arrayContaining(listed));
    expect(actionOfCall({ tool_name: "file_read", args: { path: "a.txt" } })).toMatchObject({
      action: "read",
    });
    expect(actionOfCall({ tool_name: "plan_add_task", args: { description: "x" } })).toMatchObject({
      action: "add_task",
    });
  });

  test("every documented observation exists", () => {
    const known = Observation.options.map((option) => option.shape.observation.value as string);
    expect(known).toEqual(expect.arrayContaining(["run", "browse", "read", "write", "error", "success"]));
    const read = actionOfCall({ tool_name: "file_read", args: { path: "a.txt" } });
    expect(observationOf(read, { output: "text", status_code: 200 })).toMatchObject({ observation: "read" });
    expect(observationOf(read, { error: "not there", status_code: 404 })).toMatchObject({
      observation: "error",
      content: "not there",
    });
  });

  test("to_dict hides the raw error that to_memory keeps, and both can be read back", () => {
    const write = actionOfCall(
      { tool_name: "file_write", args: { path: "a.txt", content: "x" } },
      "I save it.",
    );
    expect(toDict(write)).toMatchObject({ action: "write", message: "Writing file: a.txt" });
    expect(toMemory(write)).toEqual({
      action: "write",
      args: { path: "a.txt", content: "x", thought: "I save it." },
    });
    for (const dict of [toDict(write), toMemory(write)]) expect(actionFromDict(dict)).toEqual(write);
    const failed = observationOf(write, { status_code: 500, error: "It failed.", output: "EACCES" });
    expect(JSON.stringify(toDict(failed))).not.toContain("EACCES");
    expect(toMemory(failed)).toMatchObject({ observation: "error", extras: { exception: "EACCES" } });
    expect(observationFromDict(toMemory(failed))).toEqual(failed);
  });

  test("AgentFinishAction and AgentRejectAction stop the loop, and the delegator continues", async () => {
    const { events, state } = await runCrew(
      [
        calls(call("delegate_task", { coworker: "b", task: "first" })),
        calls(call("finish", { message: "here it is" })),
        calls(call("delegate_task", { coworker: "c", task: "second" })),
        calls(call("reject_task", { reason: "out of scope" })),
        { text: "one of two" },
      ],
      { agents: [agent("a", { allow_delegation: true }), agent("b"), agent("c")] },
      {
        roles: [role("a", ["look"]), role("b", ["look"]), role("c", ["look"])],
        tools: [tool("look")],
        plan: { tasks: [{ task_id: "t", description: "do it", required_role: "a" }] },
      },
    );
    expect(state.run.final_status).toBe("COMPLETED");
    expect(state.state.result).toBe("one of two");
    expect(of(events, "agent_finished").map(({ status }) => status)).toEqual([
      "completed",
      "rejected",
      "completed",
    ]);
    const toolMessages = Object.values(state.agents)[0]!.messages.filter(({ role: from }) => from === "tool");
    expect(toolMessages.map(({ content }) => content)).toEqual([
      "delegate_task (200): here it is",
      "delegate_task (500): c could not do it: c rejected the task: out of scope",
    ]);
  });
});

describe("Agent delegation", () => {
  test("delegation works over several levels, up to the depth limit", async () => {
    const { events, state } = await runCrew(
      [
        calls(call("delegate_task", { coworker: "b", task: "level one" })),
        calls(call("ask_coworker", { coworker: "c", question: "level two?" })),
        { text: "two" },
        { text: "one" },
        { text: "zero" },
      ],
      {
        agents: [
          agent("a", { allow_delegation: true }),
          agent("b", { allow_delegation: true }),
          agent("c", { allow_delegation: true }),
        ],
      },
      { plan: { tasks: [{ task_id: "t", description: "do it", required_role: "a" }] } },
    );
    expect(
      of(events, "iteration_started").map(
        ({ delegate_level = 0, global_iteration, local_iteration }) =>
          `L${delegate_level} G${global_iteration} l${local_iteration}`,
      ),
    ).toEqual(["L0 G0 l0", "L1 G1 l0", "L2 G2 l0", "L1 G3 l1", "L0 G4 l1"]);
    expect(state.state.result).toBe("zero");
    const tools = Object.fromEntries(
      Object.values(state.agents).map(({ agent_id, tools: given }) => [
        agent_id,
        given.includes("delegate_task"),
      ]),
    );
    expect(tools).toEqual({ a: true, b: true, c: false });
  });

  test("an agent can't delegate to an unknown agent or to one that waits for it", async () => {
    const { state } = await runCrew(
      [
        calls(
          call("delegate_task", { coworker: "nobody", task: "x" }),
          call("delegate_task", { coworker: " B ", task: "x" }),
        ),
        calls(call("delegate_task", { coworker: "a", task: "you do it" })),
        { text: "did it myself" },
        { text: "done" },
      ],
      { agents: [agent("a", { allow_delegation: true }), agent("b", { allow_delegation: true })] },
      { plan: { tasks: [{ task_id: "t", description: "do it", required_role: "a" }] } },
    );
    const toolOutputs = Object.values(state.agents).flatMap(({ messages }) =>
      messages.filter(({ role: from }) => from === "tool").map(({ content }) => content),
    );
    expect(toolOutputs.map((content) => /\((\d+)\)/.exec(content)?.[1])).toEqual(["404", "200", "409"]);
  });
});
