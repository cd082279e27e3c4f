import { describe, expect, test } from "vitest";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { foldRun, type RunState } from "@/server/domain/run";
import type { RunEvent } from "@/server/domain/run/events";
import { draw } from "@/server/domain/testing/drawing";
import { ModelError } from "@/server/llm/model";
import { cutAt, fakeModels, newStage, role } from "../testing";

const agent = (id: string, more: object = {}) => ({
  node_type: "agent_task",
  config: { required_role: "Worker", task_description_template: `do ${id}` },
  output_keys: [`${id}_out`],
  ...more,
});
const modelError = (
  code: "RATE_LIMIT" | "AUTH" | "BUDGET",
  more: { retry_after_ms?: number; detail?: object } = {},
) =>
  new ModelError(
    {
      code,
      message: `${code} happened`,
      retryable: code === "RATE_LIMIT",
      user_action: "none",
      ...(more.detail ? { detail: more.detail as never } : {}),
    },
    429,
    more.retry_after_ms,
  );

describe("a run", () => {
  test("a run of a chain completes, and its log folds to the reported state", async () => {
    const stage = newStage();
    const { id, events, state } = await stage.run(draw("start > a > b > end"));
    expect(state.run).toMatchObject({
      status: "finished",
      final_status: "COMPLETED",
      reason_code: "END_REACHED",
    });
    expect(state.state).toMatchObject({ a: "a", b: "b" });
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    expect(stage.store.find(id)).toMatchObject({
      status: "finished",
      final_status: "COMPLETED",
      last_seq: events.length,
    });
  });

  test("a run writes an agent's answer under its output key", async () => {
    const models = fakeModels(({ messages }) => `answer to ${messages.at(-1)!.content.split("\n")[3]}`);
    const { state } = await newStage({ models }).run(draw("start > ask > end", { ask: agent("ask") }), {
      roles: [role("Worker")],
    });
    expect(state.state.ask_out).toBe("answer to do ask");
    expect(state.totals).toMatchObject({ cost_usd: 0.001, global_iterations: 1, steps: 3 });
    expect(state.agents["ask#1/Worker"]?.messages.map((message) => message.role)).toEqual([
      "system",
      "user",
      "assistant",
    ]);
  });

  test("an agent is asked again if its answer doesn't match the schema", async () => {
    const answers = ["no json at all", '{"x": "1", "y": 2}', '{"x": "one", "y": "two"}'];
    const models = fakeModels(() => answers.shift()!);
    const graph = draw("start > ask > end", { ask: agent("ask", { output_keys: ["x", "y"] }) });
    const { state, events } = await newStage({ models }).run(graph, { roles: [role("Worker")] });
    expect(state.run.final_status).toBe("COMPLETED");
    expect(
      events
        .filter((event) => event.type === "output_parsed")
        .map((event) => (event as { payload: { ok: boolean } }).payload.ok),
    ).toContain(false);
    expect(state.state).toMatchObject({ x: expect.any(String) as string });
  });

  test("a model call is retried after a transient error, and the failure is logged", async () => {
    let calls = 0;
    const models = fakeModels(() => {
      if (++calls === 1) throw modelError("RATE_LIMIT", { retry_after_ms: 5 });
      return "fine";
    });
    const { events, state } = await newStage({ models }).run(
      draw("start > ask > end", { ask: agent("ask") }),
      { roles: [role("Worker")] },
    );
    expect(state.run.final_status).toBe("COMPLETED");
    expect(events.filter(({ type }) => type === "llm_call_failed")).toHaveLength(1);
  });

  test("a permanent model error fails the run with its reason", async () => {
    const models = fakeModels(() => {
      throw modelError("AUTH");
    });
    const { state } = await newStage({ models }).run(draw("start > ask > end", { ask: agent("ask") }), {
      roles: [role("Worker")],
    });
    expect(state.run).toMatchObject({ final_status: "ERROR", reason_code: "AUTH" });
    expect(state.nodes.ask?.status).toBe("failed");
  });

  test("a failed node takes its error edge and writes the error to the state", async () => {
    const graph = draw("start > bad > a > end; bad !> fix > end", {
      bad: { config: { set: { bad: "state.nothing.here" } } },
    });
    const { state } = await newStage().run(graph);
    expect(state.run.final_status).toBe("COMPLETED");
    expect(state.nodes).toMatchObject({
      bad: { status: "failed" },
      fix: { status: "completed" },
      a: { status: "skipped" },
    });
    expect(state.state._error).toMatchObject({ node_id: "bad" });
  });

  test("a node that continues on error returns its default output", async () => {
    const graph = draw("start > bad > end", {
      bad: {
        config: { set: { bad: "state.nothing.here" } },
        on_error: "continue",
        default_output: { bad: "instead" },
      },
    });
    const { state } = await newStage().run(graph);
    expect([state.run.final_status, state.state.bad]).toEqual(["COMPLETED", "instead"]);
    expect(state.run.warnings).toHaveLength(1);
  });

  test("a node is retried up to its configured number of attempts", async () => {
    let calls = 0;
    const models = fakeModels(() => {
      if (++calls < 3)
        throw new ModelError({ code: "TIMEOUT", message: "slow", retryable: false, user_action: "retry" });
      return "at last";
    });
    const graph = draw("start > ask > end", {
      ask: agent("ask", { retry: { max_attempts: 3, initial_delay_ms: 1 } }),
    });
    const { state, events } = await newStage({ models }).run(graph, { roles: [role("Worker")] });
    expect(state.activations["ask#1"]).toMatchObject({ status: "completed", attempt: 3 });
    expect(events.filter(({ type }) => type === "node_retry_scheduled")).toHaveLength(2);
  });

  test("a node that exceeds its timeout is stopped", async () => {
    const models = fakeModels(
      (_request, signal) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(new Error("aborted"))),
        ),
    );
    const graph = draw("start > ask > end", { ask: agent("ask", { run_timeout_ms: 30 }) });
    const { state } = await newStage({ models }).run(graph, { roles: [role("Worker")] });
    expect(state.run).toMatchObject({ final_status: "ERROR", reason_code: "TIMEOUT" });
  });

  test("a node without a required input fails before any model call", async () => {
    const models = fakeModels(() => "never");
    const { state } = await newStage({ models }).run(
      draw("start > ask > end", { ask: agent("ask", { input_keys: ["missing"] }) }),
      { roles: [role("Worker")] },
    );
    expect(state.run.reason_code).toBe("INPUT_MISSING");
    expect(models.requests).toEqual([]);
  });

  test("a node whose condition is false is skipped", async () => {
    const { state } = await newStage().run(draw("start > a > b > end", { a: { when: "false" } }));
    expect([state.nodes.a?.status, state.nodes.b?.status, state.state.a]).toEqual([
      "skipped",
      "completed",
      undefined,
    ]);
  });

  test("a terminating end node cancels everything else", async () => {
    const graph = draw("start > w > end2; start > a > end", {
      w: { config: { ms: 60_000 } },
      end: { config: { terminate: true } },
    });
    const { state } = await newStage().run(graph);
    expect([state.run.final_status, state.nodes.w?.status]).toEqual(["COMPLETED", "cancelled"]);
  });

  test("a run that reaches no end node is incomplete", async () => {
    const { state } = await newStage().run(draw("start > a"));
    expect(state.run).toMatchObject({ final_status: "INCOMPLETE", reason_code: "NO_END_REACHED" });
  });
});

test("waiting nodes take no slot: 50 waits run at once under a limit of 1", async () => {
  const waits = Array.from({ length: 50 }, (_, k) => `w${k}`);
  const graph = draw(
    `${waits.map((id) => `start > ${id} > j`).join("; ")}; j > end`,
    Object.fromEntries(waits.map((id) => [id, { config: { ms: 300 } }])),
  );
  const { events } = await newStage().run(graph, { config: { max_parallel_nodes: 1 } });
  const types = events.map(({ type }) => type);
  expect(types.lastIndexOf("node_waiting")).toBeLessThan(types.indexOf("timer_fired"));
});

describe("state", () => {
  test("a loop that changes nothing warns once and continues", async () => {
    const { events, state } = await newStage().run(
      draw("start > w1 > r; r again> w1; r done> end", {
        r: {
          node_type: "conditional_router",
          config: { kind: "value", value: "'again'", mode: "all" },
        },
        w1: { max_iterations: 5 },
      }),
    );
    const warnings = events.filter(
      (event) => event.type === "warning" && event.payload.code === "LOOP_UNCHANGED",
    );
    expect(warnings).toHaveLength(1);
    expect(state.loops.w1?.iteration).toBe(5);
  });

  test("parallel writers of a key: the later node in the workflow wins, and the conflict is logged", async () => {
    const both = { a: { config: { set: { x: '"a"' } } }, b: { config: { set: { x: '"b"' } } } };
    const { state, events } = await newStage().run(draw("start > a > j > end; start > b > j", both));
    expect(state.state.x).toBe("b");
    expect(events.filter(({ type }) => type === "state_conflict")).toHaveLength(1);
  });

  test("a reducer merges parallel writes without a conflict", async () => {
    const graph = draw("start > a > j > end; start > b > j", {
      a: { config: { set: { x: "[1.0]" } } },
      b: { config: { set: { x: "[2.0]" } } },
    });
    const { state, events } = await newStage().run({
      ...graph,
      global_state_schema: { properties: { x: { type: "array", "x-reducer": "append" } } },
    });
    expect(state.state.x).toEqual([1, 2]);
    expect(events.some(({ type }) => type === "state_conflict")).toBe(false);
  });

  test("schema defaults initialize the state, and an invalid value is logged or fails a strict run", async () => {
    const graph: WorkflowGraph = {
      ...draw("start > a > end"),
      global_state_schema: { properties: { a: { type: "number" }, limit: { type: "number", default: 3 } } },
    };
    const { state, events } = await newStage().run(graph);
    expect(state.state.limit).toBe(3);
    expect(events.some(({ type }) => type === "state_invalid")).toBe(true);
    expect((await newStage().run(graph, { config: { strict_state: true } })).state.run.reason_code).toBe(
      "STATE_INVALID",
    );
  });
});

describe("limits", () => {
  test("a step limit stops a run, and raising it lets the run finish", async () => {
    const stage = newStage();
    const { id, state } = await stage.run(draw("start > a > b > c > end"), { config: { max_steps: 3 } });
    expect(state.run).toMatchObject({
      final_status: "INCOMPLETE",
      reason_code: "MAX_STEPS",
      resumable: ["max_steps"],
    });
    expect(stage.store.find(id)).toMatchObject({ status: "finished", final_status: "INCOMPLETE" });
    void stage.host.steering.raiseLimit(id, "max_steps", 10, "user");
    await stage.host.settled(id);
    const after = stage.store.state(id)!;
    expect(after.run).toMatchObject({ final_status: "COMPLETED" });
    expect(after.activations["a#1"]!.attempt).toBe(1);
    expect(after.totals.steps).toBe(5);
  });

  test("a limit of model calls stops a run before the call, and raising it lets the run finish", async () => {
    const stage = newStage();
    const graph = draw("start > one > two > end", { one: agent("one"), two: agent("two") });
    const { id, state } = await stage.run(graph, {
      roles: [role("Worker")],
      config: { max_global_iterations: 1 },
    });
    expect(state.run).toMatchObject({ final_status: "INCOMPLETE", reason_code: "MAX_ITERATIONS" });
    void stage.host.steering.raiseLimit(id, "max_global_iterations", 5, "user");
    await stage.host.settled(id);
    expect(stage.store.state(id)!.run.final_status).toBe("COMPLETED");
  });

  test("a cost limit stops a run before the call, which is made once the budget allows it", async () => {
    let poor = true;
    const models = fakeModels(() => {
      if (poor) throw modelError("BUDGET", { detail: { metric: "cost_usd", used: 1, limit: 1 } });
      return "paid";
    });
    const stage = newStage({ models });
    const { id, state } = await stage.run(draw("start > ask > end", { ask: agent("ask") }), {
      roles: [role("Worker")],
    });
    expect(state.run).toMatchObject({
      final_status: "INCOMPLETE",
      reason_code: "BUDGET",
      resumable: ["max_cost_usd"],
    });
    poor = false;
    void stage.host.steering.raiseLimit(id, "max_cost_usd", 5, "user");
    await stage.host.settled(id);
    expect(stage.store.state(id)!.state.ask_out).toBe("paid");
  });
});

describe("cancelling", () => {
  test("a run can be cancelled while a model answers, while a timer runs and while queued", async () => {
    const hangs = fakeModels(
      (_request, signal) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(new Error("aborted"))),
        ),
    );
    const stage = newStage({ models: hangs, maxRuns: 2 });
    const asking = stage.start(draw("start > ask > end", { ask: agent("ask") }), {
      roles: [role("Worker")],
    });
    const asking2 = stage.start(draw("start > ask > end", { ask: agent("ask") }), {
      roles: [role("Worker")],
    });
    const queued = stage.start(draw("start > w > end", { w: { config: { ms: 60_000 } } }));
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(stage.store.find(queued)!.status).toBe("queued");
    for (const id of [queued, asking, asking2])
      expect(stage.host.cancel(id, { by: "user", reason: "enough" })).toBe(true);
    for (const id of [queued, asking, asking2]) await stage.host.settled(id);
    for (const id of [queued, asking, asking2])
      expect(stage.store.find(id)).toMatchObject({ status: "finished", final_status: "CANCELLED" });
    expect(stage.store.events(asking, 0, 1000).at(-1)!.type).toBe("run_finished");
    expect(stage.host.cancel(asking, { by: "user", reason: "" })).toBe(false);
  });
});

describe("many runs", () => {
  test("runs share slots fairly between workflows and never exceed the cap", async () => {
    let now = 0;
    let most = 0;
    const models = fakeModels(async () => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve, 2));
      now--;
      return "ok";
    });
    const stage = newStage({ models, maxRuns: 4 });
    const graph = draw("start > ask > end", { ask: agent("ask") });
    const many = Array.from({ length: 60 }, () =>
      stage.start(graph, { roles: [role("Worker")], workflow: "busy" }),
    );
    const late = stage.start(graph, { roles: [role("Worker")], workflow: "other" });
    while (stage.store.countUnfinished() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(most).toBeLessThanOrEqual(4);
    const ended = (id: string) => stage.store.find(id)!.finished_at!;
    expect(many.filter((id) => ended(id) > ended(late)).length).toBeGreaterThan(30);
  });

  test("the same idempotency key starts a single run", () => {
    const stage = newStage();
    const graph = draw("start > a > end");
    const ids = Array.from({ length: 20 }, () => stage.start(graph, { key: "once" }));
    expect(new Set(ids).size).toBe(1);
  });
});

describe("following", () => {
  test("a follower receives every event once and in order, whenever it starts", async () => {
    const stage = newStage();
    const id = stage.start(
      draw("start > w > a > w2 > b > end", { w: { config: { ms: 20 } }, w2: { config: { ms: 20 } } }),
    );
    const follow = async (after: number, delay: number) => {
      await new Promise((resolve) => setTimeout(resolve, delay));
      const seen: RunEvent[] = [];
      for await (const frame of stage.host.follow(id, after))
        if (frame.kind === "events") seen.push(...frame.events);
      return seen;
    };
    const [early, late, after] = await Promise.all([follow(0, 0), follow(0, 25), follow(5, 10)]);
    const all = stage.store.events(id, 0, 1000);
    expect(early).toEqual(all);
    expect(late).toEqual(all);
    expect(after).toEqual(all.slice(5));
    expect(await follow(0, 0)).toEqual(all);
  });
});

describe("a full disk", () => {
  test("a full disk delays runs and loses nothing", async () => {
    const stage = newStage();
    const write = stage.store.write.bind(stage.store);
    let refusals = 0;
    stage.store.write = (writes) => {
      if (++refusals === 3 || refusals === 4)
        throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
      write(writes);
    };
    const { events, state } = await stage.run(
      draw("start > a > w > b > w2 > end", { w: { config: { ms: 1 } }, w2: { config: { ms: 1 } } }),
    );
    expect(state.run.final_status).toBe("COMPLETED");
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    expect(refusals).toBeGreaterThan(4);
  });
});

describe("a turn that can't be stored", () => {
  const soon = { config: { ms: 1 } };
  const graph = draw("start > w > w2 > w3 > end", { w: soon, w2: soon, w3: soon });
  const begin = (stage: ReturnType<typeof newStage>) => {
    const bad = stage.start(graph);
    return { bad, good: Array.from({ length: 20 }, () => stage.start(graph)) };
  };
  const expectOnlyOneEnded = async (
    stage: ReturnType<typeof newStage>,
    { bad, good }: ReturnType<typeof begin>,
    message: RegExp,
  ) => {
    while (stage.store.countUnfinished() > 0) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(good.map((id) => stage.store.find(id)!.final_status)).toEqual(good.map(() => "COMPLETED"));
    expect(stage.store.find(bad)).toMatchObject({ status: "finished", final_status: "ERROR" });
    expect(stage.store.state(bad)!.run.error?.message).toMatch(message);
    const events = stage.store.events(bad, 0, 1e6);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
    expect(stage.host.cancel(bad, { by: "user", reason: "" })).toBe(false);
  };

  test("a turn that can't be stored ends its run with the reason and delays no other", async () => {
    const stage = newStage();
    const write = stage.store.write.bind(stage.store);
    const runs = { bad: "" };
    stage.store.write = (writes) => {
      if (writes.some(({ runId, turn, key }) => runId === runs.bad && turn > 2 && key !== "$ended"))
        throw new RangeError("Invalid string length");
      write(writes);
    };
    const begun = begin(stage);
    runs.bad = begun.bad;
    await expectOnlyOneEnded(stage, begun, /more than can be stored/);
  });

  test("a turn that the database rejects or that is not valid JSON ends its run", async () => {
    const stage = newStage({ maxRuns: 64 });
    const begun = begin(stage);
    stage.db.$client.exec(
      `create trigger refuse before insert on run_turns when new.run_id = '${begun.bad}' and new.turn = 3 and new.key <> '$ended'
       begin select raise(abort, 'no room for this one'); end`,
    );
    await expectOnlyOneEnded(stage, begun, /could not be stored: no room for this one/);

    const models = fakeModels(() => "fine");
    const complete = models.complete.bind(models);
    models.complete = async (request, io) => ({ ...(await complete(request, io)), latency_ms: 1n as never });
    const { state } = await newStage({ models }).run(draw("start > ask > end", { ask: agent("ask") }), {
      roles: [role("Worker")],
    });
    expect(state.run).toMatchObject({
      final_status: "ERROR",
      error: { message: expect.stringContaining("can't be stored: ") },
    });
  });

  test("a transient storage error delays only its own run and keeps a cancellation until it passes", async () => {
    const stage = newStage();
    const write = stage.store.write.bind(stage.store);
    const runs = { bad: "", isFull: true };
    stage.store.write = (writes) => {
      if (runs.isFull && writes.some(({ runId, turn }) => runId === runs.bad && turn > 1))
        throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
      write(writes);
    };
    const begun = begin(stage);
    runs.bad = begun.bad;
    await Promise.all(begun.good.map((id) => stage.host.settled(id)));
    while (stage.store.countUnfinished() > 1) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(stage.store.find(begun.bad)!.status).not.toBe("finished");
    expect(stage.host.cancel(begun.bad, { by: "user", reason: "" })).toBe(true);
    runs.isFull = false;
    await stage.host.settled(begun.bad);
    expect(stage.store.find(begun.bad)!.final_status).toBe("CANCELLED");
  });
});

describe("a queued run", () => {
  test("a queued run starts from its log entry in memory, without reading it back", async () => {
    const stage = newStage({ maxRuns: 1 });
    const read: string[] = [];
    const journal = stage.store.journal.bind(stage.store);
    stage.store.journal = (id) => {
      read.push(id);
      return journal(id);
    };
    // JSON knows no -0 and nothing undefined, so neither does the run.
    const input = { zero: -0, none: undefined as never };
    const graph = draw("start > a > end");
    const ids = Array.from({ length: 3 }, () => stage.start(graph, { input }));
    await Promise.all(ids.map((id) => stage.host.settled(id)));
    while (stage.store.countUnfinished() > 0) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(read).toEqual([]);
    for (const id of ids) {
      const { state } = stage.store.state(id)!;
      expect(Object.is(state.zero, 0)).toBe(true);
      expect(Object.keys(state)).not.toContain("none");
    }
  });

  test("a queued run that is cancelled before its turn ends as cancelled", async () => {
    const stage = newStage({ maxRuns: 1 });
    const graph = draw("start > a > end");
    const ids = Array.from({ length: 3 }, () => stage.start(graph));
    expect(stage.host.cancel(ids[2]!, { by: "user", reason: "" })).toBe(true);
    while (stage.store.countUnfinished() > 0) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(ids.map((id) => stage.store.find(id)!.final_status)).toEqual([
      "COMPLETED",
      "COMPLETED",
      "CANCELLED",
    ]);
  });
});

describe("an unreadable queued run", () => {
  test("an unreadable queued run doesn't block the queue, now or later", async () => {
    const graph = draw("start > a > end");
    // Queued by a process that has ended: what a process queues itself it need not read back.
    const before = newStage();
    await before.host.drain(0);
    const ids = Array.from({ length: 6 }, () => before.start(graph));
    const stage = newStage({ db: before.db, maxRuns: 1 });
    const journal = stage.store.journal.bind(stage.store);
    const readErrors = new Map<string, Error>();
    stage.store.journal = (id) => {
      const error = readErrors.get(id);
      if (error) throw error;
      return journal(id);
    };
    readErrors.set(ids[1]!, new SyntaxError("Unterminated string in JSON at position 7"));
    readErrors.set(ids[2]!, Object.assign(new Error("disk I/O error"), { code: "SQLITE_IOERR_READ" }));
    stage.host.recover();
    const later = stage.start(graph);
    while (stage.store.countUnfinished() > 1) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(stage.store.find(later)!.final_status).toBe("COMPLETED");
    readErrors.delete(ids[2]!);
    while (stage.store.countUnfinished() > 0) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(ids.map((id) => stage.store.find(id)!).map((run) => run.final_status ?? run.status)).toEqual(
      ids.map((_, at) => (at === 1 ? "held" : "COMPLETED")),
    );
  });
});

describe("crews", () => {
  const crewOf = (more: object) =>
    draw("start > team > end", {
      team: {
        node_type: "crew_task",
        output_keys: ["result"],
        config: {
          plan_description_template: "make it",
          crew: {
            crew_id: "c",
            agents: [
              { agent_id: "ann", role_name: "Worker" },
              { agent_id: "bob", role_name: "Worker" },
              { agent_id: "eve", role_name: "Other" },
            ],
            ...(more as { crew?: object }).crew,
          },
          ...("plan" in more ? { plan: more.plan } : {}),
        },
      } as never,
    });
  const roles = [role("Worker"), role("Other"), role("Planner")];
  const plan = {
    tasks: [
      { task_id: "one", description: "first", required_role: "Worker" },
      { task_id: "two", description: "second", required_role: "Worker" },
      { task_id: "three", description: "third", required_role: "Other", dependencies: ["one", "two"] },
    ],
  };
  const spans = (events: readonly RunEvent[]) =>
    events.flatMap((event) =>
      event.type === "task_status_changed"
        ? [
            `${event.task_id} ${event.payload.to}${event.payload.assigned_agent ? ` ${event.payload.assigned_agent}` : ""}`,
          ]
        : [],
    );

  test("a crew executes its plan task by task", async () => {
    const { events, state } = await newStage({
      models: fakeModels(({ call_id }) => `result of ${call_id.split("/")[2]}`),
    }).run(crewOf({ plan }), { roles });
    expect(spans(events)).toEqual([
      "one in_progress ann",
      "one completed",
      "two in_progress bob",
      "two completed",
      "three in_progress eve",
      "three completed",
    ]);
    expect(state.state.result).toBe("result of three");
  });

  test("a parallel crew runs independent tasks at once, least busy agent first", async () => {
    const { events } = await newStage().run(crewOf({ plan, crew: { process: "parallel" } }), { roles });
    expect(spans(events).slice(0, 2)).toEqual(["one in_progress ann", "two in_progress bob"]);
    expect(spans(events).at(-2)).toBe("three in_progress eve");
  });

  test("a task receives the results of its dependencies", async () => {
    const models = fakeModels(({ call_id }) => `result of ${call_id.split("/")[2]}`);
    await newStage({ models }).run(crewOf({ plan }), { roles });
    expect(models.requests.at(-1)!.messages.at(-1)!.content).toContain(
      '<result task="one">result of one</result>\n<result task="two">result of two</result>',
    );
  });

  test("a planner writes the plan, and is asked again if it is invalid", async () => {
    const written = [
      JSON.stringify({
        tasks: [
          {
            task_id: "x",
            description: "d",
            required_role: "Worker",
            dependencies: ["nowhere"],
            expected_output: "e",
          },
        ],
      }),
      JSON.stringify({
        tasks: [
          { task_id: "x", description: "d", required_role: "Worker", dependencies: [], expected_output: "e" },
        ],
      }),
    ];
    const models = fakeModels(({ response }) => (response ? written.shift()! : "made"));
    const { state, events } = await newStage({ models }).run(
      crewOf({
        crew: {
          planning: true,
          agents: [
            { agent_id: "boss", role_name: "Planner" },
            { agent_id: "ann", role_name: "Worker" },
          ],
        },
      }),
      { roles },
    );
    expect(state.run.final_status).toBe("COMPLETED");
    expect(events.filter(({ type }) => type === "plan_created")).toHaveLength(1);
    expect(state.plans["team#1"]!.tasks.map(({ task_id, status }) => [task_id, status])).toEqual([
      ["x", "completed"],
    ]);
    expect(state.state.result).toBe("made");
  });

  test("a task without a matching agent fails the plan and lists the available roles", async () => {
    const odd = { tasks: [{ task_id: "one", description: "d", required_role: "Nobody" }] };
    const { state } = await newStage().run(crewOf({ plan: odd }), { roles });
    expect(state.run.error?.message).toMatch(
      /needs Nobody, but the crew has no such agent.*The crew has: Worker, Other/,
    );
  });

  test("a failed task blocks only its dependents if the crew continues on failure", async () => {
    const models = fakeModels(({ call_id }) => {
      if (call_id.includes("/one/")) throw modelError("AUTH");
      return "ok";
    });
    const { events, state } = await newStage({ models }).run(
      crewOf({ plan, crew: { on_task_failure: "continue_independent" } }),
      { roles },
    );
    expect(spans(events)).toEqual([
      "one in_progress ann",
      "one failed",
      "two in_progress bob",
      "two completed",
      "three blocked",
    ]);
    expect(state.run).toMatchObject({ final_status: "COMPLETED" });
    expect(state.run.warnings.length).toBeGreaterThan(0);
  });
});

describe("after a crash", () => {
  /** A database as it was when the process died at some turn: later rows never came to be. */
  test("a run resumes after a crash at any turn and repeats no finished step", async () => {
    const graph = draw("start > ask > r; r yes> x > j; r no> y > j; start > b > w > j; j > two > end", {
      ask: agent("ask", { output_keys: ["r"] }),
      two: agent("two"),
    });
    const whole = newStage({
      models: fakeModels(({ messages }) => (messages.at(-1)!.content.includes("do ask") ? "yes" : "the end")),
    });
    const first = await whole.run(graph, { roles: [role("Worker")] });
    expect(first.state.run.final_status).toBe("COMPLETED");
    const turns = whole.store.journal(first.id).turns.length;
    expect(turns).toBeGreaterThan(4);
    for (let cut = 1; cut < turns; cut++) {
      const models = fakeModels(({ messages }) =>
        messages.at(-1)!.content.includes("do ask") ? "yes" : "the end",
      );
      const again = newStage({ db: cutAt(whole, first.id, cut), models });
      const before = again.store.events(first.id, 0, 1e6);
      again.host.recover();
      await again.host.settled(first.id);
      const events = again.store.events(first.id, 0, 1e6);
      const state = foldRun(first.id, events);
      expect(events.slice(0, before.length)).toEqual(before);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
      expect({ cut, status: state.run.final_status, state: state.state, output: state.run.output }).toEqual({
        cut,
        status: "COMPLETED",
        state: first.state.state,
        output: first.state.run.output,
      });
      const answered = before.filter(({ type }) => type === "llm_call_completed").length;
      expect(models.requests.length).toBe(2 - answered);
      const completions = events
        .filter(({ type }) => type === "node_completed")
        .map((event) => event.activation_id);
      expect(new Set(completions).size).toBe(completions.length);
    }
  });

  test("a parallel crew resumes after a crash at any turn with the same result", async () => {
    const plan = {
      tasks: [
        { task_id: "one", description: "first", required_role: "Worker" },
        { task_id: "two", description: "second", required_role: "Worker" },
        { task_id: "three", description: "third", required_role: "Worker", dependencies: ["one", "two"] },
      ],
    };
    const agents = [
      { agent_id: "ann", role_name: "Worker" },
      { agent_id: "bob", role_name: "Worker" },
    ];
    const graph = draw("start > team > end", {
      team: {
        node_type: "crew_task",
        output_keys: ["result"],
        config: { plan_description_template: "make it", plan, crew: { agents, process: "parallel" } },
      },
    });
    const answer = ({ call_id }: { call_id: string }) => `result of ${call_id.split("/")[2]}`;
    const whole = newStage({ models: fakeModels(answer) });
    const first = await whole.run(graph, { roles: [role("Worker")] });
    expect(first.state.state.result).toBe("result of three");
    // When each was done differs, of course.
    const tasksOf = ({ plans }: RunState) =>
      Object.values(plans).flatMap(({ tasks }) => tasks.map(({ metadata: _when, ...task }) => task));
    const turns = whole.store.journal(first.id).turns.length;
    for (let cut = 1; cut < turns; cut++) {
      const models = fakeModels(answer);
      const again = newStage({ db: cutAt(whole, first.id, cut), models });
      const answered = again.store
        .events(first.id, 0, 1e6)
        .filter(({ type }) => type === "llm_call_completed").length;
      again.host.recover();
      await again.host.settled(first.id);
      const state = again.store.state(first.id)!;
      expect({ cut, state: state.state, plan: tasksOf(state) }).toEqual({
        cut,
        state: first.state.state,
        plan: tasksOf(first.state),
      });
      expect(models.requests.length).toBe(3 - answered);
    }
  });

  test("a run that stopped at a limit can continue after a restart", async () => {
    const stage = newStage();
    const { id } = await stage.run(draw("start > a > b > end"), { config: { max_steps: 2 } });
    const again = newStage({ db: stage.db });
    again.host.recover();
    void again.host.steering.raiseLimit(id, "max_steps", 9, "user");
    await again.host.settled(id);
    expect(again.store.state(id)!.run.final_status).toBe("COMPLETED");
  });
});
