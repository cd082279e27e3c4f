import fc from "fast-check";
import OpenAI from "openai";
import { afterEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { answerPrompt, taskPrompt } from "@/server/domain/agent/prompt";
import type { Json, JsonSchema } from "@/server/domain/base/values";
import { ExecutionPlan } from "@/server/domain/crew/plan";
import { type DemoPace, newDemoPace } from "./demo-pace";
import { newModels } from "./models";
import { newOfflineFetch } from "./offline";
import { instanceOf } from "./offline/instance";
import { ask, memoryProviders, newIo, offlineProvider } from "./testing";
import { parseOutput } from "./tool-calls/structured-output";

afterEach(() => void vi.useRealTimers());

const models = () =>
  newModels({
    providers: memoryProviders([{ ...offlineProvider }]),
    offlineFetch: newOfflineFetch({ speed: 0 }),
  });
const client = () =>
  new OpenAI({
    apiKey: "none",
    baseURL: "http://offline.invalid/v1",
    fetch: newOfflineFetch({ speed: 0 }),
    maxRetries: 0,
    logLevel: "off",
  });
const complete = (content: string, more: Parameters<typeof ask>[1] = {}) =>
  models().complete(ask(content, more), newIo().io);
type Message = OpenAI.Chat.Completions.ChatCompletionMessageParam;
const chat = (
  messages: Message[],
  more: Partial<OpenAI.Chat.Completions.ChatCompletionCreateParamsNonStreaming> = {},
) => client().chat.completions.create({ model: "offline-demo", messages, ...more });
const first = async (text: string) => (await chat([{ role: "user", content: text }])).choices[0]!;

describe("offline model server", () => {
  test("the offline model answers the same with and without streaming, and lists itself", async () => {
    const messages: Message[] = [{ role: "user", content: "Task: Write about the sea" }];
    const whole = await chat(messages);
    let streamed = "";
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of await client().chat.completions.create({
      model: "offline-demo",
      messages,
      stream: true,
      stream_options: { include_usage: true },
    })) {
      streamed += chunk.choices[0]?.delta.content ?? "";
      usage = chunk.usage ?? usage;
    }
    expect(streamed).toBe(whole.choices[0]!.message.content);
    expect(usage).toEqual(whole.usage);
    expect(whole.usage!.completion_tokens).toBe(Math.ceil(streamed.length / 4));
    expect((await client().models.list()).data.map(({ id }) => id)).toEqual(["offline-demo"]);
  });
  test("identical requests to the offline model get identical answers, marked as simulated", async () => {
    const [a, b] = [await complete("Task: Write about the sea"), await complete("Task: Write about the sea")];
    expect(a.content).toBe(b.content);
    expect(a).toMatchObject({
      simulated: true,
      cost_usd: 0,
      cost_source: "simulated",
      provider_id: "offline",
      finish_reason: "stop",
    });
  });
  test("the offline model rejects invalid requests", async () => {
    const handle = newOfflineFetch({ speed: 0 });
    expect(
      (await handle("http://offline.invalid/v1/chat/completions", { method: "POST", body: "{" })).status,
    ).toBe(400);
    expect((await handle("http://offline.invalid/v1/else")).status).toBe(404);
  });
  test("the offline model obeys token limits and stop sequences", async () => {
    expect(await complete("Task: Write about the sea", { llm_config: { max_tokens: 5 } })).toMatchObject({
      finish_reason: "length",
    });
    expect(
      (await complete('[[offline: text "one STOP two"]]', { llm_config: { stop: ["STOP"] } })).content,
    ).toBe("one ");
  });
});

describe("demo pace", () => {
  /** How long an answer takes by the test's clock; `after`: when the rest is skipped. */
  async function timeOf(run_id: string, pace: DemoPace, skipAfter?: number): Promise<number> {
    vi.stubEnv("TROUPE_OFFLINE_SPEED", undefined);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
    const began = Date.now();
    const own = newModels({
      providers: memoryProviders([{ ...offlineProvider }]),
      offlineFetch: newOfflineFetch({ pace }),
    });
    let took: number | null = null;
    const completion = own
      .complete(ask("Task: Write about the sea", { run_id }), newIo().io)
      .then(() => void (took = Date.now() - began));
    while (took === null) {
      if (skipAfter !== undefined && Date.now() - began >= skipAfter) pace.skip(run_id);
      await vi.advanceTimersByTimeAsync(10);
    }
    await completion;
    vi.useRealTimers();
    return took;
  }
  afterEach(() => void vi.unstubAllEnvs());

  test("a watched run is slowed down without affecting others, and skipping finishes it at once", async () => {
    const pace = newDemoPace();
    pace.slow("watched");
    const usual = await timeOf("other", pace);
    const slow = await timeOf("watched", pace);
    expect(slow).toBeGreaterThan(3 * usual);
    expect(slow).toBeLessThan(4_000);
    const skipped = await timeOf("watched", pace, 1_000);
    expect(skipped).toBeLessThan(1_500);
    expect(await timeOf("watched", pace)).toBeLessThan(usual);
    // Starting again with the same key changes nothing.
    pace.slow("watched");
    expect(pace.of("watched")).toBe("at once");
  });
  test("the demo pace applies only if no speed is set", async () => {
    const pace = newDemoPace();
    pace.slow("watched");
    const completion = newModels({
      providers: memoryProviders([{ ...offlineProvider }]),
      offlineFetch: newOfflineFetch({ speed: 0, pace }),
    }).complete(ask("Task: Write about the sea", { run_id: "watched" }), newIo().io);
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    expect((await completion).content).not.toBe("");
  });
  test("the pace of old runs is discarded", () => {
    const pace = newDemoPace();
    for (let n = 0; n < 150; n++) pace.slow(`run_${n}`);
    expect([pace.of("run_0"), pace.of("run_149")]).toEqual([undefined, "slow"]);
  });
});

describe("directives", () => {
  test("the text, json, malformed and think directives produce their outputs", async () => {
    expect((await complete('Hello [[offline: text "a \\"quoted\\" ]] word"]]')).content).toBe(
      'a "quoted" ]] word',
    );
    expect(JSON.parse((await complete('[[offline: json {"list": [[1, 2], [3]]}]]')).content)).toEqual({
      list: [[1, 2], [3]],
    });
    expect(
      parseOutput((await complete("[[offline: malformed]]")).content, {
        type: "object",
        properties: { a: { type: "string" }, b: { type: "number" } },
        required: ["a", "b"],
      }).ok,
    ).toBe(false);
    expect(await complete('[[offline: think "Let me see."]][[offline: text "Yes."]]')).toMatchObject({
      reasoning: "Let me see.",
      content: "Yes.",
    });
  });
  test("directives are consumed in order, turn by turn", async () => {
    const script: Message = { role: "user", content: '[[offline: text "one"]] and [[offline: text "two"]]' };
    const turn = async (...more: Message[]) => (await chat([script, ...more])).choices[0]!.message.content;
    expect(await turn()).toBe("one");
    expect(await turn({ role: "assistant", content: "one" }, { role: "user", content: "go on" })).toBe("two");
    expect(await turn({ role: "assistant", content: "one" }, { role: "assistant", content: "two" })).toMatch(
      /^Demo answer: /,
    );
  });
  test("directives in a crew's plan apply only to the agents of those tasks", async () => {
    const searchTask = `[[offline: tool search {"query": "tea"}]] [[offline: text "![][ref] <img src='x'>\\n"]]`;
    const plan = [searchTask, `Repeat it. [[offline: text "Cut off in the mid`].map(
      (task) => `- t (pending; Scout): ${task}`,
    );
    const status = `<crew_status>\nThe plan:\n${plan.join("\n")}\n</crew_status>`;
    const { message } = (
      await chat([
        { role: "system", content: "You are Editor." },
        {
          role: "user",
          content: `<task>\nRepeat it. [[offline: text "![][ref] again"]]\n</task>\n\n${status}`,
        },
      ])
    ).choices[0]!;
    expect(message).toMatchObject({ content: "![][ref] again" });
    expect(message.tool_calls).toBeUndefined();
  });
  test("the tool, tools, handoff and textcall directives produce calls", async () => {
    const called = await first('[[offline: tool search {"query": "sea", "tags": ["a"]}]]');
    expect(called.finish_reason).toBe("tool_calls");
    expect(called.message.tool_calls).toEqual([
      {
        id: "call_1",
        type: "function",
        function: { name: "search", arguments: '{"query":"sea","tags":["a"]}' },
      },
    ]);
    const both = await first('[[offline: tools [{"name": "a", "args": {"x": 1}}, "b"]]]');
    expect(both.message.tool_calls).toHaveLength(2);
    expect((await first("[[offline: handoff writer]]")).message.content).toMatch(
      /^TOOL_CALL: \{"tool_name":"handoff".*"writer"/,
    );
    const tools = [{ type: "function" as const, function: { name: "handoff", parameters: {} } }];
    const native = await chat([{ role: "user", content: "[[offline: handoff writer]]" }], { tools });
    expect(native.choices[0]!.message.tool_calls?.[0]).toMatchObject({ function: { name: "handoff" } });
    expect((await first('[[offline: textcall search {"q": 1}]]')).message.content).toBe(
      'TOOL_CALL: {"tool_name": "search", "args": {"q": 1}}',
    );
  });
  test("streamed tool calls arrive complete", async () => {
    const stream = client().chat.completions.stream({
      model: "offline-demo",
      messages: [{ role: "user", content: '[[offline: tool search {"q": "sea"}]]' }],
    });
    expect((await stream.finalChatCompletion()).choices[0]!.message.tool_calls?.[0]).toMatchObject({
      function: { name: "search", arguments: '{"q":"sea"}' },
    });
  });
  test("an error directive fails the given number of times before the answer", async () => {
    const own = models();
    const go = () => own.complete(ask('[[offline: error 500 x2]][[offline: text "done"]]'), newIo().io);
    await expect(go()).rejects.toMatchObject({
      error: { code: "TRANSIENT", retryable: true },
      http_status: 500,
    });
    await expect(go()).rejects.toMatchObject({ error: { code: "TRANSIENT" } });
    expect((await go()).content).toBe("done");
    await expect(go()).rejects.toMatchObject({ error: { code: "TRANSIENT" } });
  });
  test("error 429 carries its retry delay, and each run counts separately", async () => {
    const own = models();
    const go = (run_id: string) =>
      own.complete(ask("[[offline: error 429 retry-after=0.02]]", { run_id }), newIo().io);
    await expect(go("run_a")).rejects.toMatchObject({
      error: { code: "RATE_LIMIT", retryable: true },
      retry_after_ms: 20,
    });
    await expect(go("run_b")).rejects.toMatchObject({ error: { code: "RATE_LIMIT" } });
    expect((await go("run_a")).content).not.toBe("");
  });
  test("the refuse, blank, truncate and drop-after directives produce their failures", async () => {
    expect(await complete("[[offline: refuse]]")).toMatchObject({
      refusal: expect.stringContaining("scripted") as string,
    });
    await expect(complete("[[offline: blank]]")).rejects.toMatchObject({
      error: { code: "OUTPUT_INVALID", retryable: true },
    });
    expect(await complete('[[offline: truncate]][[offline: text "abcdefgh"]]')).toMatchObject({
      finish_reason: "length",
      content: "abcd",
    });
    await expect(complete("[[offline: drop-after 3]]")).rejects.toMatchObject({
      error: { code: "TRANSIENT", retryable: true },
    });
  });
  test("a delay directive answers exactly when its delay is over", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const answered = vi.fn();
    const completion = complete('[[offline: delay 60]][[offline: text "late"]]').then(({ content }) =>
      answered(content),
    );
    await vi.advanceTimersByTimeAsync(59);
    expect(answered).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    await completion;
    expect(answered.mock.calls).toEqual([["late"]]);
  });
  test("a hang directive waits until it is cancelled or times out", async () => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 30);
    await expect(models().complete(ask("[[offline: hang]]"), newIo(abort.signal).io)).rejects.toMatchObject({
      error: { code: "CANCELLED" },
    });
    await expect(
      models().complete(ask("[[offline: hang 5s]]", { llm_config: { timeout_ms: 60 } }), newIo().io),
    ).rejects.toMatchObject({ error: { code: "TIMEOUT", retryable: true } });
  });
  test("directives are left out of the model's answer", async () => {
    expect((await complete("Task: Write about the sea [[offline: delay 1]]")).content).not.toContain(
      "offline:",
    );
  });
});

const approval: JsonSchema = {
  type: "object",
  properties: {
    approval_status: { type: "string", enum: ["approved", "rejected"] },
    approver_comments: { type: "string" },
  },
  required: ["approval_status", "approver_comments"],
  additionalProperties: false,
};
async function asJson(
  role: string,
  task: string,
  inputs: Record<string, Json>,
  schema: JsonSchema,
): Promise<Record<string, Json>> {
  const content = taskPrompt({ task, inputs, answer: answerPrompt({ schema }) });
  const answer = await complete(content, { system: `You are ${role}. Does its work.`, schema });
  const parsed = parseOutput(answer.content, schema);
  if (!parsed.ok) throw new Error(parsed.errors.join());
  expect(parsed.repair).toBe("none");
  return parsed.value as Record<string, Json>;
}
async function asText(
  role: string,
  task: string,
  inputs: Record<string, Json>,
  key: string,
): Promise<string> {
  return (
    await complete(taskPrompt({ task, inputs, answer: answerPrompt({ key }) }), {
      system: `You are ${role}. Does its work.`,
    })
  ).content;
}

describe("answers without directives", () => {
  test("a placeholder answer names its role and task and how to get a real answer", async () => {
    expect(await asText("Writer", "Write about\nthe sea.", {}, "draft")).toBe(
      "Demo answer of Writer: Write about the sea.\n\nThis is a placeholder, not written by an AI. To get a real answer, connect a model in Settings.",
    );
  });
  test("the demo model approves an approval request", async () => {
    expect(
      await asJson("ApprovalAgent", "Review this request for approval.", { user_request: "Tea" }, approval),
    ).toEqual({
      approval_status: "approved",
      approver_comments: "Placeholder for “approver comments”, not written by an AI.",
    });
  });
  test("a text decision uses a word that the task quotes", async () => {
    const task = 'Review the draft. Answer "accept" or "needs_changes".';
    expect(await asText("Critic", task, { draft: "Once upon a time" }, "status")).toBe("accept");
    expect(await asText("Critic", "Review the draft.", {}, "approval_status")).toBe("approved");
  });
  test("boolean, enum and score decisions approve too", async () => {
    const schema: JsonSchema = {
      type: "object",
      properties: {
        approved: { type: "boolean" },
        needs_revision: { type: "boolean" },
        issues: { type: "array", items: { type: "string" } },
        verdict: { type: "string", enum: ["revise", "approve"] },
        score: { type: "number", minimum: 0, maximum: 1 },
      },
      required: ["approved", "needs_revision", "issues", "verdict", "score"],
    };
    expect(await asJson("Reviewer", "Review the text", { text: "Hm" }, schema)).toEqual({
      approved: true,
      needs_revision: false,
      issues: [],
      verdict: "approve",
      score: 1,
    });
  });
  test("a demo plan uses only the allowed roles", async () => {
    const schema: JsonSchema = {
      type: "object",
      properties: {
        tasks: {
          type: "array",
          minItems: 1,
          maxItems: 8,
          items: {
            type: "object",
            properties: {
              task_id: { type: "string", pattern: "^[A-Za-z_][A-Za-z0-9_]{0,40}$" },
              description: { type: "string", minLength: 1 },
              required_role: { type: "string", enum: ["Researcher", "Analyst", "Writer"] },
              dependencies: { type: "array", items: { type: "string" } },
              expected_output: { type: "string" },
            },
            required: ["task_id", "description", "required_role", "dependencies", "expected_output"],
            additionalProperties: false,
          },
        },
      },
      required: ["tasks"],
      additionalProperties: false,
    };
    const plan = ExecutionPlan.parse(
      await asJson(
        "Planner",
        "Write a plan that reaches this goal: a garden workshop",
        { goal: "a garden workshop" },
        schema,
      ),
    );
    expect(plan.tasks.map(({ required_role, dependencies }) => [required_role, dependencies])).toEqual([
      ["Researcher", []],
      ["Analyst", []],
      ["Writer", ["task_1", "task_2"]],
    ]);
  });
});

/** Schemas such as people write them. */
const leaf = fc.oneof(
  fc.record({
    type: fc.constant("string"),
    minLength: fc.integer({ min: 0, max: 30 }),
    maxLength: fc.integer({ min: 30, max: 60 }),
  }),
  fc.record({
    type: fc.constant("string"),
    format: fc.constantFrom(
      "email",
      "uri",
      "uuid",
      "date",
      "date-time",
      "time",
      "ipv4",
      "hostname",
      "duration",
    ),
  }),
  fc.record({
    type: fc.constant("string"),
    pattern: fc.constantFrom(
      "^[A-Z]{2}-\\d{3,5}$",
      "^(yes|no)$",
      "^[a-z]+(-[a-z]+)*$",
      "^\\S+@\\S+$",
      "^[A-Za-z_][A-Za-z0-9_]{0,40}$",
      "^#[0-9a-f]{6}$",
      "^v?\\d+\\.\\d+$",
    ),
  }),
  fc.record({
    type: fc.constantFrom("number", "integer"),
    minimum: fc.integer({ min: -50, max: 50 }),
    maximum: fc.integer({ min: 60, max: 200 }),
  }),
  fc.record({
    type: fc.constant("integer"),
    multipleOf: fc.integer({ min: 1, max: 9 }),
    minimum: fc.integer({ min: -20, max: 90 }),
  }),
  fc.record({
    type: fc.constant("number"),
    exclusiveMinimum: fc.integer({ min: 0, max: 5 }),
    exclusiveMaximum: fc.integer({ min: 6, max: 9 }),
  }),
  fc.record({ type: fc.constant("boolean") }),
  fc.record({ type: fc.constant("null") }),
  fc.record({
    enum: fc.uniqueArray(fc.oneof(fc.string({ minLength: 1 }), fc.integer()), { minLength: 1, maxLength: 5 }),
  }),
  fc.record({ const: fc.oneof(fc.string(), fc.integer(), fc.boolean()) }),
);
const name = fc.constantFrom(
  "title",
  "status",
  "score",
  "tags",
  "items",
  "verdict",
  "summary",
  "tasks",
  "email",
  "approved",
  "note",
);
const { schema: anySchema } = fc.letrec<{ schema: JsonSchema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.record({
      type: fc.constant("array"),
      items: tie("schema"),
      minItems: fc.integer({ min: 0, max: 3 }),
      maxItems: fc.integer({ min: 3, max: 5 }),
    }),
    fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }) }),
    fc
      .tuple(fc.dictionary(name, tie("schema"), { maxKeys: 4 }), fc.boolean(), fc.integer({ min: 0, max: 4 }))
      .map(([properties, isClosed, required]) => ({
        type: "object",
        properties,
        required: Object.keys(properties).slice(0, required),
        ...(isClosed ? { additionalProperties: false } : {}),
      })),
  ),
}));

describe("values generated from a schema", () => {
  test("generated values are valid, whatever value is proposed", () => {
    const proposal = fc.constantFrom<Json | undefined>(undefined, "text", 7, true, null, [], ["a"], { a: 1 });
    fc.assert(
      fc.property(anySchema, proposal, (schema, wish) => {
        const value = instanceOf(schema, () => wish);
        const checked = z.fromJSONSchema(schema).safeParse(value);
        if (!checked.success)
          throw new Error(
            `${JSON.stringify(value)} does not fit ${JSON.stringify(schema)}: ${checked.error.message}`,
          );
      }),
      { numRuns: 250, seed: 7 },
    );
  });
  test("value generation terminates for recursive, referenced, combined and unique schemas", () => {
    const schemas: JsonSchema[] = [
      {
        $defs: {
          Node: {
            type: "object",
            properties: {
              name: { type: "string" },
              children: { type: "array", items: { $ref: "#/$defs/Node" } },
            },
            required: ["name", "children"],
          },
        },
        type: "object",
        properties: { root: { $ref: "#/$defs/Node" } },
        required: ["root"],
      },
      {
        allOf: [
          { type: "object", properties: { a: { type: "integer", minimum: 3 } }, required: ["a"] },
          { type: "object", properties: { b: { type: "string" } }, required: ["b"] },
        ],
      },
      { type: "array", items: { type: "string", enum: ["a", "b", "c"] }, uniqueItems: true, minItems: 3 },
      { type: "array", items: { type: "integer" }, uniqueItems: true, minItems: 4 },
      { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], minItems: 2 },
      {
        oneOf: [
          { type: "object", properties: { kind: { const: "a" } }, required: ["kind"] },
          { type: "object", properties: { kind: { const: "b" } }, required: ["kind"] },
        ],
      },
      { type: "object", additionalProperties: { type: "integer" }, minProperties: 2 },
      { type: ["string", "null"] },
      {},
    ];
    for (const schema of schemas)
      expect(
        z
          .fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
          .safeParse(instanceOf(schema, () => undefined)).success,
        JSON.stringify(schema),
      ).toBe(true);
  });
});
