import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RunConfig } from "@/server/domain/agent/outcome";
import type { Provider, ProviderSettings } from "@/server/domain/model/provider";
import { foldRun } from "@/server/domain/run";
import type { RunEvent, RunEventOf } from "@/server/domain/run/events";
import { draw } from "@/server/domain/testing/drawing";
import { newModels } from "@/server/llm/models";
import type { TransportLimits } from "@/server/llm/openai/transport";
import { type Handler, memoryProviders, newServer, remoteProvider, sendSse } from "@/server/llm/testing";
import { sized } from "@/server/testing/thorough";
import { newStage, role } from "../testing";

// Whatever a service was paid for stands in the books, whether or not an answer came of it.

const graph = draw("start > ask > end", {
  ask: {
    node_type: "agent_task",
    output_keys: ["answer"],
    config: { required_role: "Worker", task_description_template: "say it" },
  },
});
const of = <T extends RunEvent["type"]>(events: readonly RunEvent[], type: T): RunEventOf<T>["payload"][] =>
  events.flatMap((event) => (event.type === type ? [event.payload as RunEventOf<T>["payload"]] : []));

/** A dollar for a million tokens read, two for a million written. */
const PRICES = { "*": { input_per_mtok: 1, output_per_mtok: 2 } };

async function paid(
  handler: Handler,
  options: {
    graph?: typeof graph;
    config?: Partial<RunConfig>;
    settings?: ProviderSettings;
    limits?: Partial<TransportLimits>;
    provider?: Partial<Provider>;
  } = {},
) {
  const server = await newServer(handler);
  const models = newModels({
    providers: memoryProviders([
      remoteProvider(server.url, { settings: { prices: PRICES, ...options.settings }, ...options.provider }),
    ]),
    fetch: globalThis.fetch,
    ...(options.limits ? { limits: options.limits } : {}),
  });
  try {
    const { events, state } = await newStage({ models }).run(options.graph ?? graph, {
      roles: [role("Worker")],
      ...(options.config ? { config: options.config } : {}),
    });
    return { events, state, totals: state.totals, requests: server.requests.length };
  } finally {
    await server.close();
  }
}

const chunk = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const delta = (given: object, finish_reason: string | null = null) =>
  chunk({ choices: [{ index: 0, delta: given, finish_reason }] });
const usage = (prompt_tokens: number, completion_tokens = 0, more: object = {}) =>
  chunk({ choices: [], usage: { prompt_tokens, completion_tokens, ...more } });
const DONE = "data: [DONE]\n\n";
const good = delta({ content: "Fine." }, "stop") + usage(100, 10) + DONE;

/** Answers with these, one after the other; the last for ever. */
const inTurn = (...answers: (string | Handler)[]): Handler => {
  let at = 0;
  return (request, response, socket) => {
    const answer = answers[Math.min(at++, answers.length - 1)]!;
    if (typeof answer === "string") sendSse(response, answer);
    else answer(request, response, socket);
  };
};
/** Sends this, then nothing more. */
const stalling =
  (text: string): Handler =>
  (_q, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(text);
  };
const resetting =
  (text: string): Handler =>
  (_q, response, socket) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(text, () => setTimeout(() => socket.resetAndDestroy(), 20));
  };

describe.concurrent("reported usage of failed calls", () => {
  test.each<[string, string, object]>([
    ["an empty answer", delta({}, "stop") + usage(500, 0) + DONE, { input_tokens: 600, output_tokens: 10 }],
    [
      "reasoning only",
      delta({ reasoning_content: "Hm." }, "stop") +
        usage(500, 5_900, { completion_tokens_details: { reasoning_tokens: 5_900 } }) +
        DONE,
      { input_tokens: 600, output_tokens: 5_910, reasoning_tokens: 5_900 },
    ],
    [
      "reasoning reported only in the total",
      delta({}, "stop") + usage(1_000, 100, { total_tokens: 2_100 }) + DONE,
      { input_tokens: 1_100, output_tokens: 1_110, reasoning_tokens: 1_000 },
    ],
    [
      "a malformed function call",
      delta({}, "MALFORMED_FUNCTION_CALL") + usage(500, 30) + DONE,
      { input_tokens: 600, output_tokens: 40 },
    ],
    [
      "an error at the end of a stream",
      delta({ content: "So" }) + usage(500, 1) + chunk({ error: { message: "engine died", code: 500 } }),
      { input_tokens: 600, output_tokens: 11 },
    ],
  ])("reported tokens of a failed call count: %s", async (_name, answer, expected) => {
    const { state, totals, events } = await paid(inTurn(answer, good));
    expect(state.run.final_status).toBe("COMPLETED");
    expect(totals.usage).toMatchObject({ ...expected, requests: 2, estimated: false });
    const [failed] = of(events, "llm_call_failed");
    expect(failed).toMatchObject({ provider: "Testing", model: "test-model", simulated: false });
    const { input_tokens, output_tokens } = totals.usage;
    expect(totals.cost_usd).toBeCloseTo((input_tokens + 2 * output_tokens) / 1e6);
    expect(failed!.cost_usd! + of(events, "llm_call_completed")[0]!.cost_usd!).toBeCloseTo(totals.cost_usd);
  });
  test("a content filter in mid-answer still counts its tokens", async () => {
    const { totals, state } = await paid(
      inTurn(delta({ content: "I" }) + delta({}, "content_filter") + usage(800, 20) + DONE),
    );
    expect(state.run.error?.code).toBe("CONTENT_FILTER");
    expect(totals).toMatchObject({ usage: { input_tokens: 800, output_tokens: 20 }, unknown_cost_calls: 0 });
    // The node that failed shows it too, and so does the call.
    expect(state.activations["ask#1"]).toMatchObject({ usage: { input_tokens: 800 } });
    expect(Object.values(state.calls)[0]).toMatchObject({ status: "failed", usage: { output_tokens: 20 } });
  });
});

describe.concurrent("estimated usage", () => {
  test.each<[string, Handler]>([
    ["a broken connection", resetting(delta({ content: "word ".repeat(400) }))],
    ["a stalled answer", stalling(delta({ content: "word ".repeat(400) }))],
    ["an error in mid-answer", inTurn(delta({ content: "word ".repeat(400) }) + chunk({ error: "gone" }))],
  ])("usage is estimated if none was reported: %s", async (_name, handler) => {
    const { totals } = await paid(inTurn(handler, good), { limits: { idleMs: 300 } });
    expect(totals.usage).toMatchObject({ requests: 2, estimated: true });
    expect(totals.usage.output_tokens).toBeGreaterThan(400);
    expect(totals.usage.input_tokens).toBeGreaterThan(110);
    expect(totals.cost_usd).toBeGreaterThan(800 / 1e6);
  });
  test("a call that was accepted but never answered counts its input tokens", async () => {
    const { totals } = await paid(inTurn(stalling(": ok\n\n"), good), { limits: { firstByteMs: 1_000 } });
    expect(totals.usage).toMatchObject({ requests: 2, output_tokens: 10, estimated: true });
    expect(totals.usage.input_tokens).toBeGreaterThan(110);
  });
  test.each([
    ["too many requests", { code: 429, message: "Rate limit exceeded. Please retry after 10 ms" }],
    ["a model that is loading", { message: "model is loading" }],
  ])("an error inside a 200 response costs nothing: %s", async (_name, error) => {
    const { totals } = await paid(inTurn(chunk({ error }), good));
    expect(totals.usage).toMatchObject({ requests: 1, input_tokens: 100, output_tokens: 10 });
  });
  test("a refused request costs nothing", async () => {
    const refusing: Handler = (_q, response) => response.writeHead(503).end("busy");
    const { totals } = await paid(inTurn(refusing, good));
    expect(totals.usage).toMatchObject({
      requests: 1,
      input_tokens: 100,
      output_tokens: 10,
      estimated: false,
    });
  });
});

describe.concurrent("hard budgets", () => {
  const empty = delta({}, "stop") + usage(500_000) + DONE;
  test.each<[string, Partial<RunConfig>]>([
    ["in tokens", { budget: { max_total_tokens: 600_000, warn_at: 0.8, mode: "hard" } }],
    ["in dollars", { budget: { max_cost_usd: 0.6, warn_at: 0.8, mode: "hard" } }],
  ])("a hard budget %s stops a run even if no call returns an answer", async (_name, config) => {
    const { requests, totals, state, events } = await paid(inTurn(empty), { config });
    expect(requests).toBe(2);
    expect(totals).toMatchObject({ usage: { input_tokens: 1_000_000, requests: 2 }, cost_usd: 1 });
    expect(state.run).toMatchObject({ final_status: "INCOMPLETE", reason_code: "BUDGET" });
    expect(of(events, "budget_warning")).toHaveLength(1);
  });
});

describe("parallel agents under a hard budget", () => {
  const names = Array.from({ length: 8 }, (_, at) => `a${at}`);
  const eight = draw(
    names.map((name) => `start > ${name} > end`).join("; "),
    Object.fromEntries(
      names.map((name) => [
        name,
        {
          node_type: "agent_task",
          output_keys: [`${name}_said`],
          config: { required_role: "Worker", task_description_template: "say it" },
        } as const,
      ]),
    ),
  );
  const lengths = fc.array(fc.integer({ min: 1, max: 60_000 }), { minLength: 1, maxLength: 8 });
  const budgets = fc.constantFrom<RunConfig["budget"]>(
    { max_total_tokens: 60_000, warn_at: 0.8, mode: "hard" },
    { max_total_tokens: 9_000, warn_at: 0.8, mode: "hard" },
    { max_cost_usd: 0.12, warn_at: 0.8, mode: "hard" },
  );

  /** A server whose answers would be so long, and which stops at a cap where it is asked to. */
  function talkative(wished: readonly number[], keepsTo: boolean) {
    const spent = { tokens: 0, dollars: 0 };
    const caps: unknown[] = [];
    const handler: Handler = ({ body }, response) => {
      const cap = body.max_tokens;
      const wish = wished[caps.push(cap) % wished.length] ?? 1;
      const written = keepsTo && typeof cap === "number" ? Math.min(wish, cap) : wish;
      spent.tokens += 50 + written;
      spent.dollars += (50 + 2 * written) / 1e6;
      const end = written < wish ? "length" : "stop";
      sendSse(response, delta({ content: "said" }) + delta({}, end) + usage(50, written) + DONE);
    };
    return { handler, spent, caps };
  }

  test("parallel agents stay within a hard budget if the server respects token caps", async () => {
    await fc.assert(
      fc.asyncProperty(lengths, budgets, async (wished, budget) => {
        const { handler, spent, caps } = talkative(wished, true);
        const { state } = await paid(handler, { graph: eight, config: { budget } });
        expect(caps.every((cap) => typeof cap === "number")).toBe(true);
        expect(spent.tokens).toBeLessThanOrEqual(budget.max_total_tokens ?? Number.POSITIVE_INFINITY);
        expect(spent.dollars).toBeLessThanOrEqual(budget.max_cost_usd ?? Number.POSITIVE_INFINITY);
        expect(state.run.warnings).toEqual([]);
      }),
      {
        numRuns: sized(8, 200),
        seed: 1,
        examples: [[[50_000], { max_total_tokens: 60_000, warn_at: 0.8, mode: "hard" }]],
      },
    );
  });

  test("a run warns if the server ignores token caps and exceeds the budget", async () => {
    const { handler, spent } = talkative([50_000], false);
    const { state } = await paid(handler, {
      graph: eight,
      config: { budget: { max_total_tokens: 60_000, warn_at: 0.8, mode: "hard" } },
    });
    expect(spent.tokens).toBeGreaterThan(60_000);
    expect(state.run.warnings).toEqual([
      expect.stringMatching(/its limit of 60000 tokens.*used 50000 tokens despite a limit of 8192/),
    ]);
  });
});

test("an answer truncated by the budget's cap is retried once with twice the limit", async () => {
  const asked: unknown[] = [];
  const answers = inTurn(delta({ content: "Once upon" }, "length") + usage(50, 8192) + DONE, good);
  const { state } = await paid(
    (request, response, socket) => {
      asked.push(request.body.max_tokens);
      answers(request, response, socket);
    },
    { config: { budget: { max_total_tokens: 100_000, warn_at: 0.8, mode: "hard" } } },
  );
  expect(asked).toEqual([8192, 16_384]);
  expect(state.run.final_status).toBe("COMPLETED");
});

test("the run's error contains the message of the service", async () => {
  const { state, requests } = await paid((_q, response) =>
    response
      .writeHead(400, { "content-type": "application/json" })
      .end(JSON.stringify([{ error: { code: 400, message: "thought_signature is missing" } }])),
  );
  expect(requests).toBe(1);
  expect(state.run.error?.message).toContain("thought_signature is missing");
});

test("an unknown finish reason fails the run after one retry", async () => {
  const { state, requests } = await paid(inTurn(delta({ content: "Half?" }, "banana") + usage(10, 2) + DONE));
  expect(requests).toBe(2);
  expect(state.run.final_status).toBe("ERROR");
  expect(state.run.error).toMatchObject({
    code: "TRANSIENT",
    message: expect.stringContaining("“banana”") as string,
  });
});

test("an allowed unknown finish reason adds one warning to the run", async () => {
  const { state, events } = await paid(
    inTurn(delta({ content: "Half?" }, "policy_pause") + usage(10, 2) + DONE),
    { settings: { unknown_ends: "take" } },
  );
  expect(state.run.final_status).toBe("COMPLETED");
  expect(state.run.warnings).toEqual([expect.stringContaining("“policy_pause”")]);
  expect(of(events, "llm_call_completed")[0]!.notes).toEqual(state.run.warnings);
});

test("a timed-out call is retried once", async () => {
  const { requests, state, events } = await paid(() => undefined, { limits: { firstByteMs: 100 } });
  expect(requests).toBe(2);
  expect(of(events, "llm_call_failed").map(({ will_retry }) => will_retry)).toEqual([true, false]);
  expect(state.run.error).toMatchObject({
    code: "TIMEOUT",
    message: expect.stringContaining("“First-token timeout”") as string,
  });
});

test("a run is marked as simulated by its calls, not by its initial settings", async () => {
  const { events } = await paid(inTurn(delta({}, "stop") + usage(5) + DONE, good));
  const asIf = (simulated: boolean) =>
    foldRun(
      "run_1",
      events.map((event) =>
        event.type === "llm_call_failed"
          ? { ...event, payload: { ...event.payload, simulated } }
          : event.type === "run_created"
            ? {
                ...event,
                payload: { ...event.payload, provider_summary: { name: "D", model: "d", simulated: true } },
              }
            : event,
      ),
    ).run.simulated;
  expect([asIf(false), asIf(true)]).toEqual([false, true]);
});
