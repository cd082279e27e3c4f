import { describe, expect, test } from "vitest";
import { call, calls, of, role, tool } from "@/server/conformance/stage";
import { RunConfig } from "@/server/domain/agent/outcome";
import type { JsonObject } from "@/server/domain/base/values";
import type { RunState } from "@/server/domain/run";
import type { PeopleRules } from "@/server/domain/run/events/people-events";
import { draw } from "@/server/domain/testing/drawing";
import { type FailedCost, ModelError } from "@/server/llm/model";
import { newScriptedModels, type ScriptedStep } from "@/server/llm/scripted";
import { ToolFailure } from "@/server/tools/define";
import { NothingLeft, VirtualRun } from "../durable/virtual-run";
import { execute } from "../interpreter/execute";
import { fakeTools } from "../testing";
import { backOff } from "./call-model";

// What an agent waits for, in a time of its own: nothing here waits.

const graph = (config: JsonObject) =>
  draw("start > ask > end", {
    ask: {
      node_type: "agent_task",
      output_keys: ["answer"],
      config: { required_role: "Worker", task_description_template: "find it", ...config },
    },
  });
const agent = (more: JsonObject) => ({
  agent_ref: "w",
  agent: { agent_id: "w", role_name: "Worker", ...more },
});

/** One agent at work; `at`: the moments at which its model was asked, in milliseconds. */
async function inTime(
  steps: readonly ScriptedStep[],
  {
    task = {},
    config = {},
    tools = [tool("look")],
    people,
    answers = [],
  }: {
    task?: JsonObject;
    config?: Partial<RunConfig>;
    tools?: ReturnType<typeof tool>[];
    people?: PeopleRules;
    answers?: JsonObject[];
  } = {},
) {
  const scripted = newScriptedModels(steps);
  const at: number[] = [];
  const left = [...answers];
  const run: VirtualRun = new VirtualRun("r", 0, {
    first: "by_place",
    serve: () => undefined,
    idle(deliver) {
      const asked = run.events.findLast(({ type }) => type === "interaction_requested");
      const answer = asked?.type === "interaction_requested" ? left.shift() : undefined;
      if (asked?.type !== "interaction_requested" || !answer) return false;
      deliver(`answer:${asked.payload.interaction_id}`, { by: "ann", ...answer });
      return true;
    },
  });
  const states: RunState[] = [];
  const drawing = graph(task);
  try {
    await execute(
      run,
      {
        seq: 1,
        ts: 0,
        type: "run_created",
        payload: {
          graph: drawing,
          roles: [role("Worker", ["look"])],
          workflow_id: null,
          workflow_name: "Test",
          input: {},
          config: RunConfig.parse({ ...drawing.config, ...config }),
          trigger: "test",
          provider_summary: null,
          ...(people ? { people } : {}),
        },
      },
      {
        models: {
          ...scripted,
          complete(request, io) {
            at.push(run.now);
            return scripted.complete(request, io);
          },
        },
        tools: fakeTools(tools),
      },
      (state) => void states.push(state),
    );
  } catch (error) {
    if (!(error instanceof NothingLeft)) throw error;
  }
  scripted.assertComplete();
  return { at, events: run.events, run: states[0]!.run, state: states[0]!, requests: scripted.calls };
}
const fails = (
  {
    http_status,
    retry_after_ms,
    ...more
  }: { http_status?: number; retry_after_ms?: number; tries?: number; cost?: FailedCost } = {},
  error: Partial<ModelError["error"]> = {},
): ScriptedStep => ({
  error: new ModelError(
    { code: "TRANSIENT", message: "not now", retryable: true, user_action: "retry", ...error },
    http_status,
    retry_after_ms,
    more,
  ),
});
const costing = (cost_usd: number): FailedCost => ({
  usage: {
    input_tokens: 7,
    output_tokens: 3,
    cached_input_tokens: 0,
    reasoning_tokens: 0,
    requests: 1,
    estimated: false,
  },
  cost_usd,
  cost_source: "provider",
  provider: "P",
  model: "m",
  simulated: false,
});
const look = calls(call("look", { text: "x" }));
const looks = (...texts: string[]) => texts.map((text) => calls(call("look", { text })));
const done: ScriptedStep = { text: "done" };
const failures = (events: Parameters<typeof of>[0]) =>
  of(events, "llm_call_failed").map(({ attempt, will_retry, delay_ms }) => [attempt, will_retry, delay_ms]);

describe("agent limits", () => {
  test("a rate-limited agent waits until its oldest call is a minute old", async () => {
    const { at, run } = await inTime([...looks("a", "b", "c", "d"), done], { task: agent({ max_rpm: 2 }) });
    expect([at, run.final_status]).toEqual([[0, 0, 60_000, 60_000, 120_000], "COMPLETED"]);
    expect((await inTime([...looks("a", "b"), done], { task: agent({}) })).at).toEqual([0, 0, 0]);
  });

  test("an agent past its time limit is stopped before its next turn", async () => {
    const slow = [fails({ retry_after_ms: 2000 }), look, done];
    const inside = await inTime(slow, { task: agent({ max_execution_time_s: 2 }) });
    expect([inside.at, inside.run.final_status]).toEqual([[0, 2000, 2000], "COMPLETED"]);
    const { at, run } = await inTime(slow.slice(0, 2), { task: agent({ max_execution_time_s: 1 }) });
    expect(at).toEqual([0, 2000]);
    expect(run.error).toMatchObject({
      code: "TIME_LIMIT",
      message: "Worker timed out after 1 s.",
      user_action: "edit_graph",
    });
  });
});

describe("retries of model calls", () => {
  test("a failing model call is attempted four times with doubling delays", async () => {
    const { at, events, run } = await inTime([fails(), fails(), fails(), fails()]);
    const [first = 0, second = 0, third = 0] = of(events, "llm_call_failed").map(({ delay_ms }) => delay_ms);
    expect(failures(events)).toEqual([
      [1, true, first],
      [2, true, second],
      [3, true, third],
      [4, false, undefined],
    ]);
    expect(at).toEqual([0, first, first + second, first + second + third]);
    expect(run.error).toMatchObject({ code: "TRANSIENT", message: "not now" });
  });

  test("a retry waits as long as the service asks, unless that exceeds a minute", async () => {
    const minute = await inTime([fails({ retry_after_ms: 60_000, http_status: 503 }), done]);
    expect(minute.at).toEqual([0, 60_000]);
    expect(of(minute.events, "llm_call_failed")).toEqual([
      {
        error: {
          code: "TRANSIENT",
          message: "not now",
          retryable: true,
          user_action: "retry",
        },
        attempt: 1,
        will_retry: true,
        http_status: 503,
        delay_ms: 60_000,
      },
    ]);
    expect(failures((await inTime([fails({ retry_after_ms: 60_001 })])).events)).toEqual([
      [1, false, undefined],
    ]);
  });

  test("a failure can set a lower limit on attempts, counted per kind of failure", async () => {
    expect(failures((await inTime([fails({ tries: 1 })])).events)).toEqual([[1, false, undefined]]);
    expect((await inTime([fails({ tries: 2 }), fails(), fails({ tries: 2 })])).at).toHaveLength(3);
    expect((await inTime([fails({ tries: 2 }), fails(), done])).run.final_status).toBe("COMPLETED");
  });

  test("a permanent failure is not retried, not even with a fallback model", async () => {
    const models = { llm_config: { model: "a", fallback_models: [{ provider_id: "p", model: "b" }] } };
    const { at, run } = await inTime([fails({}, { code: "CONFIG", retryable: false })], { task: models });
    expect([at, run.error?.code]).toEqual([[0], "CONFIG"]);
  });

  test("a call whose attempts are used up moves to the next model with fresh attempts", async () => {
    const { requests, events, run } = await inTime([fails({ retry_after_ms: 70_000 }), fails(), done], {
      task: {
        llm_config: {
          model: "a",
          temperature: 0.5,
          fallback_models: [
            { provider_id: "p", model: "b" },
            { provider_id: "p", model: "c" },
          ],
        },
      },
    });
    expect(requests.map(({ llm_config: { model, temperature } }) => [model, temperature])).toEqual([
      ["a", 0.5],
      ["b", 0.5],
      ["b", 0.5],
    ]);
    expect(
      of(events, "llm_call_started").map(({ attempt, model, purpose }) => [attempt, model, purpose]),
    ).toEqual([
      [1, "a", "task"],
      [1, "b", "task"],
      [2, "b", "task"],
    ]);
    expect(events.flatMap(({ type, call_id }) => (type === "llm_call_started" ? [call_id] : []))).toEqual([
      "ask#1/1/Worker/turn0/call1",
      "ask#1/1/Worker/turn0/fallback1/call1",
      "ask#1/1/Worker/turn0/fallback1/call2",
    ]);
    expect(run.final_status).toBe("COMPLETED");
  });

  test("a failed call that the service billed counts toward the agent's and the run's cost", async () => {
    const cost = costing(0.5);
    const { state, events } = await inTime([fails({ cost }), fails(), done]);
    expect(of(events, "llm_call_failed").map(({ usage, cost_usd }) => [usage, cost_usd])).toEqual([
      [cost.usage, 0.5],
      [undefined, undefined],
    ]);
    expect([state.totals.cost_usd, of(events, "agent_finished")[0]!.cost_usd]).toEqual([0.5, 0.5]);
  });
});

describe("budget warnings", () => {
  const budget = (more: Partial<RunConfig["budget"]>) => ({
    config: { budget: { warn_at: 0.5, mode: "soft" as const, ...more } },
  });
  const warned = async (more: Partial<RunConfig["budget"]>, steps = [...looks("a", "b"), done]) =>
    of((await inTime(steps, budget(more))).events, "budget_warning");
  const used = async (turns: number) => {
    const { events } = await inTime([...looks("a", "b"), done]);
    return of(events, "llm_call_completed")
      .slice(0, turns)
      .reduce((sum, { usage }) => sum + usage.input_tokens + usage.output_tokens, 0);
  };
  test("a budget warning appears once, at the call that crosses its threshold", async () => {
    const [first, second] = [await used(1), await used(2)];
    expect(await warned({ max_total_tokens: second * 2 })).toEqual([
      { metric: "total_tokens", used: second, limit: second * 2 },
    ]);
    expect(await warned({ max_total_tokens: first * 2 })).toEqual([
      { metric: "total_tokens", used: first, limit: first * 2 },
    ]);
    expect(await warned({ max_total_tokens: (await used(3)) * 2 + 2 })).toEqual([]);
    expect(await warned({})).toEqual([]);
  });
  test("the cost of a failed call can trigger a budget warning", async () => {
    const steps = [fails({ cost: costing(1) }), done];
    expect(await warned({ max_cost_usd: 2 }, steps)).toEqual([{ metric: "cost_usd", used: 1, limit: 2 }]);
    expect(await warned({ max_cost_usd: 2.1 }, steps)).toEqual([]);
  });
});

describe("limit questions of older runs", () => {
  const broke = new ModelError({
    code: "BUDGET",
    message: "The next call could exceed the budget.",
    retryable: false,
    user_action: "raise_limit",
    detail: { metric: "total_tokens", used: 0, limit: 20 },
  });
  const old = {
    people: { answer_within_ms: 60_000 },
    task: { llm_config: { model: "large", fallback_models: [{ provider_id: "p", model: "small" }] } },
    config: {
      on_limit: "ask" as const,
      budget: { max_total_tokens: 20, warn_at: 0.8, mode: "hard" as const },
    },
  };
  const models = ({ requests }: Awaited<ReturnType<typeof inTime>>) =>
    requests.map(({ llm_config }) => llm_config.model);

  test("an older run can continue with the agent's next model after a limit question", async () => {
    const went = await inTime([{ error: broke }, look, done], {
      ...old,
      answers: [{ answer: "chosen", option: "next_model" }],
    });
    expect(of(went.events, "interaction_requested").map(({ options }) => options)).toEqual([
      [
        { label: "Raise the limit", value: "raise" },
        { label: "Continue with small", value: "next_model" },
        { label: "Stop here", value: "stop" },
      ],
    ]);
    expect(of(went.events, "budget_exceeded")).toEqual([{ metric: "total_tokens", used: 0, limit: 20 }]);
    expect([models(went), went.run.final_status]).toEqual([["large", "small", "small"], "COMPLETED"]);
  });

  test("an older run keeps its model after its limit is raised", async () => {
    const raised = await inTime([{ error: broke }, done], {
      ...old,
      answers: [{ answer: "chosen", option: "raise", value: { to: 500 } }],
    });
    expect([models(raised), raised.run.config.budget.max_total_tokens, raised.run.final_status]).toEqual([
      ["large", "large"],
      500,
      "COMPLETED",
    ]);
  });
});

describe("retries of tool calls", () => {
  /** Fails so often with that status; then it answers. */
  const asleep = (times: number, status: 404 | 408 | 429 | 503, more: object = {}) => {
    let called = 0;
    return tool("look", {
      execute: () => {
        if (++called > times) return "awake";
        throw new ToolFailure(status, "asleep");
      },
      ...more,
    });
  };
  const cameTo = async (...tools: ReturnType<typeof tool>[]) => {
    const { at, events, requests } = await inTime([look, done], { tools });
    return {
      output: requests[1]!.messages.at(-1)!.content,
      at: at[1],
      retried: of(events, "tool_call_retried"),
    };
  };
  test.each([[408], [429], [503]] as const)(
    "a temporarily unavailable tool is called up to three times: %i",
    async (status) => {
      const once = await cameTo(asleep(1, status));
      expect(once).toEqual({
        output: "look (200): awake",
        at: once.retried[0]!.delay_ms,
        retried: [{ tool_name: "look", attempt: 1, status_code: status, error: "asleep", delay_ms: once.at }],
      });
      const gone = await cameTo(asleep(9, status));
      expect([gone.output, gone.retried.map(({ attempt }) => attempt)]).toEqual([
        `look (${status}): asleep`,
        [1, 2],
      ]);
    },
  );
  test("a tool call is not retried after other failures or if it has side effects", async () => {
    expect(await cameTo(asleep(1, 404))).toEqual({ output: "look (404): asleep", at: 0, retried: [] });
    expect(await cameTo(asleep(1, 503, { read_only: false }))).toEqual({
      output: "look (503): asleep",
      at: 0,
      retried: [],
    });
    expect((await cameTo(asleep(1, 503, { read_only: false, idempotent: true }))).output).toBe(
      "look (200): awake",
    );
  });
});

test("the retry delay doubles up to 30 s, varies by a quarter and is deterministic", () => {
  const waits = [1, 2, 3, 4, 5, 6, 7].map((attempt) => backOff("some/call", attempt));
  const share = waits[0]! / 1000;
  expect(share).toBeGreaterThanOrEqual(0.75);
  expect(share).toBeLessThan(1.25);
  expect(waits.map((ms) => Math.round(ms / share / 100) / 10)).toEqual([1, 2, 4, 8, 16, 30, 30]);
  expect(backOff("some/call", 3)).toBe(waits[2]);
  expect(backOff("another/call", 3)).not.toBe(waits[2]);
});
