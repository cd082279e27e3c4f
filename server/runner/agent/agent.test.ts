import { describe, expect, test } from "vitest";
import { z } from "zod";
import { RoleDefinition } from "@/server/domain/agent/role";
import type { JsonObject } from "@/server/domain/base/values";
import type { RunEvent, RunEventOf } from "@/server/domain/run/events";
import { draw } from "@/server/domain/testing/drawing";
import { ModelError } from "@/server/llm/model";
import { newScriptedModels, type ScriptedStep } from "@/server/llm/scripted";
import { defineTool, type ToolInterface } from "@/server/tools/define";
import { cutAt, fakeTools, newStage } from "../testing";

const tool = (name: string, more: Partial<Parameters<typeof defineTool>[0]> = {}): ToolInterface =>
  defineTool({
    name,
    description: `Does ${name}`,
    input: z.object({ text: z.string() }),
    source: "builtin",
    risk: "LOW",
    read_only: true,
    execute: (input) => `${name} of ${(input as { text: string }).text}`,
    ...more,
  });
const worker = (more: JsonObject = {}) => RoleDefinition.parse({ name: "Worker", tools: ["look"], ...more });
const graph = draw("start > ask > end", {
  ask: {
    node_type: "agent_task",
    output_keys: ["answer"],
    config: { required_role: "Worker", task_description_template: "find it" },
  },
});
const call = (tool_name: string, args: JsonObject = { text: "x" }, more: object = {}) => ({
  tool_name,
  args,
  ...more,
});
const of = <T extends RunEvent["type"]>(events: readonly RunEvent[], type: T): RunEventOf<T>["payload"][] =>
  events.flatMap((event) => (event.type === type ? [event.payload as RunEventOf<T>["payload"]] : []));

function stage(steps: readonly ScriptedStep[], tools: readonly ToolInterface[]) {
  const models = newScriptedModels(steps);
  const host = fakeTools(tools);
  return { models, tools: host, ...newStage({ models, tools: host }) };
}

test.each([
  ["Start bisect", "Start bisect"],
  ["", "ask"],
])("a configuration error names the node, or its ID if it has no name: %j", async (name, label) => {
  const { nodes } = graph;
  const failing = async (roles: RoleDefinition[]) => {
    const { events } = await stage([], []).run(
      { ...graph, nodes: { ...nodes, ask: { ...nodes.ask!, name } } },
      { roles },
    );
    return of(events, "node_failed").map(({ error }) => [error.code, error.message]);
  };
  expect(await failing([])).toEqual([
    ["CONFIG", `There is no role "Worker". Create it, or choose another for ${label}.`],
  ]);
  expect(await failing([worker({ input_schema: { type: "object", required: ["town"] } })])).toEqual([
    [
      "INPUT_MISSING",
      `Worker is missing inputs: town: is missing. Pass them to ${label}, or change the role's inputs.`,
    ],
  ]);
});

describe("an agent with tools", () => {
  test("an agent with tools makes a call, reads the result and answers", async () => {
    const { run, models, tools } = stage(
      [{ tool_calls: [call("look")], text: "I will look." }, { text: "It is there." }],
      [tool("look"), tool("other")],
    );
    const { events, state } = await run(graph, { roles: [worker()] });
    expect(state.state.answer).toBe("It is there.");
    expect(tools.calls).toEqual(['Worker look {"text":"x"}']);
    expect(of(events, "agent_started")[0]!.tools).toEqual(["look", "finish", "reject_task"]);
    expect(of(events, "tool_call_started")).toMatchObject([
      { tool_name: "look", args: { text: "x" }, risk: "LOW" },
    ]);
    expect(of(events, "tool_call_completed")).toMatchObject([
      { tool_name: "look", status_code: 200, output: "look of x" },
    ]);
    expect(models.calls[1]!.messages.slice(-2)).toEqual([
      {
        role: "assistant",
        content: "I will look.",
        tool_calls: [{ id: "call_1", tool_name: "look", args: { text: "x" } }],
      },
      { role: "tool", name: "look", tool_call_id: "call_1", content: "look (200): look of x" },
    ]);
    models.assertComplete();
  });

  test("a repaired write call is sent back to the model, while a repaired read call runs", async () => {
    const mended = { repaired: true };
    const { run, tools, models } = stage(
      [
        { tool_calls: [call("look", { text: "Men's" }, mended), call("act", { text: 'Men"s' }, mended)] },
        { tool_calls: [call("act", { text: "Men's" })] },
        { text: "Done." },
      ],
      [tool("look"), tool("act", { read_only: false })],
    );
    const { events, state } = await run(graph, { roles: [worker({ tools: ["look", "act"] })] });
    expect(state.state.answer).toBe("Done.");
    expect(tools.calls).toEqual([`Worker look {"text":"Men's"}`, `Worker act {"text":"Men's"}`]);
    expect(of(events, "tool_call_refused")).toMatchObject([
      { tool_name: "act", args: { text: 'Men"s' }, status_code: 400 },
    ]);
    expect(models.calls[1]!.messages.at(-1)!.content).toContain("so it was not called");
  });

  test("an agent can't call a tool that its role does not name", async () => {
    const { run, tools, models } = stage(
      [
        { tool_calls: [call("other"), call("lok"), call("look", { wrong: 1 }), call("look")] },
        { text: "Well." },
      ],
      [tool("look"), tool("other")],
    );
    const { events } = await run(graph, { roles: [worker()] });
    expect(tools.calls).toEqual(['Worker look {"text":"x"}']);
    expect(of(events, "tool_call_refused").map(({ status_code, reason }) => [status_code, reason])).toEqual([
      [403, 'Your role "Worker" may not use other. Tools you may use: look, finish, reject_task.'],
      [404, 'There is no tool named "lok". Did you mean "look"? Available: look, finish, reject_task.'],
      [400, expect.stringMatching(/^Invalid arguments for look: .*text.* Required: text\.$/)],
    ]);
    // Every call has exactly one answer, in the order of the calls.
    expect(
      models.calls[1]!.messages.filter(({ role }) => role === "tool").map(({ tool_call_id }) => tool_call_id),
    ).toEqual(["call_1", "call_2", "call_3", "call_4"]);
  });

  test("an answer truncated at its length limit is rejected", async () => {
    const cut = { text: "Half an ans", finish_reason: "length" };
    const { run, models } = stage([cut], []);
    const { state } = await run(graph, { roles: [worker({ tools: [] })] });
    expect(state.run).toMatchObject({ final_status: "ERROR", error: { code: "OUTPUT_TRUNCATED" } });
    models.assertComplete();
    // For another reason than its length, the same text is the answer.
    const whole = stage([{ ...cut, finish_reason: "content_filter" }], []);
    expect((await whole.run(graph, { roles: [worker({ tools: [] })] })).state.state.answer).toBe(
      "Half an ans",
    );
  });

  test("a node's own token limit is doubled once when it truncates an answer", async () => {
    const cut = { text: "Half an ans", finish_reason: "length" };
    const asked = draw("start > ask > end", {
      ask: {
        ...graph.nodes.ask,
        config: { ...graph.nodes.ask!.config, llm_config: { max_tokens: 50 } },
      } as never,
    });
    const roles = [worker({ tools: [] })];
    const once = stage([cut, { text: "All of it." }], []);
    expect((await once.run(asked, { roles })).state.state.answer).toBe("All of it.");
    expect(once.models.calls.map(({ llm_config }) => llm_config.max_tokens)).toEqual([50, 100]);
    const twice = stage([cut, cut], []);
    expect((await twice.run(asked, { roles })).state.run.error?.code).toBe("OUTPUT_TRUNCATED");
    twice.models.assertComplete();
  });

  test("tool calls of a truncated answer still run", async () => {
    const { run, tools } = stage(
      [{ tool_calls: [call("look")], finish_reason: "length" }, { text: "There." }],
      [tool("look")],
    );
    expect((await run(graph, { roles: [worker()] })).state.state.answer).toBe("There.");
    expect(tools.calls).toHaveLength(1);
  });

  test("a role without tools offers none to the model", async () => {
    const { run, models } = stage([{ text: "Done." }], [tool("look")]);
    const { events } = await run(graph, { roles: [worker({ tools: [] })] });
    expect(models.calls[0]!.tools).toBeUndefined();
    expect(of(events, "agent_started")[0]!.tools).toBeUndefined();
  });

  test("a denied tool is withheld even if the role names it", async () => {
    const { run, tools } = stage(
      [{ tool_calls: [call("look")] }, { text: "No." }],
      [tool("look"), tool("see")],
    );
    const { events } = await run(graph, {
      roles: [worker({ tools: ["look", "see"] })],
      config: { denied_tools: ["look"] },
    });
    expect(tools.calls).toEqual([]);
    expect(of(events, "agent_started")[0]!.withheld).toEqual([
      { tool_name: "look", reason: "It is denied in this run." },
    ]);
    expect(of(events, "tool_call_refused")[0]!.status_code).toBe(403);
  });

  test("calls that share a resource run in order, others concurrently, destructive ones alone", async () => {
    const log: string[] = [];
    const slow = (name: string, more: object) =>
      tool(name, {
        ...more,
        execute: async (input) => {
          const { text } = input as { text: string };
          log.push(`+${text}`);
          await new Promise((resolve) => setTimeout(resolve, 20));
          log.push(`-${text}`);
          return text;
        },
      });
    const { run } = stage(
      [
        {
          tool_calls: [
            call("write", { text: "a" }),
            call("write", { text: "b" }),
            call("look", { text: "c" }),
            call("drop", { text: "d" }),
          ],
        },
        { text: "Done." },
      ],
      [
        slow("write", { resources: ["file"] }),
        slow("look", {}),
        slow("drop", { destructive: true, read_only: false }),
      ],
    );
    await run(graph, { roles: [worker({ tools: ["write", "look", "drop"] })] });
    expect(log.indexOf("+b")).toBeGreaterThan(log.indexOf("-a"));
    expect(log.indexOf("+c")).toBeLessThan(log.indexOf("-a"));
    expect(log.slice(-2)).toEqual(["+d", "-d"]);
  });

  test("a tool error is returned to the model and the run continues", async () => {
    const { run, models } = stage(
      [{ tool_calls: [call("look")] }, { text: "It broke." }],
      [
        tool("look", {
          execute: () => {
            throw new Error("no light");
          },
        }),
      ],
    );
    const { state } = await run(graph, { roles: [worker()] });
    expect(state.run.final_status).toBe("COMPLETED");
    expect(models.calls[1]!.messages.at(-1)!.content).toBe("look (500): look failed: no light");
  });

  test("a long result is truncated for the model and kept in full as an artifact", async () => {
    const { run, models } = stage(
      [{ tool_calls: [call("look")] }, { text: "Long." }],
      [tool("look", { execute: () => "y".repeat(50_000) })],
    );
    const { events } = await run(graph, { roles: [worker()] });
    const { content } = models.calls[1]!.messages.at(-1)!;
    expect(content.length).toBeLessThan(16_100);
    expect(content).toContain("characters omitted; full result: read_artifact(");
    expect(of(events, "tool_call_completed")[0]!.artifact_id).toMatch(/^art_/);
  });

  test("finish returns the answer, and reject_task rejects the task", async () => {
    const finished = stage([{ tool_calls: [call("finish", { message: "All done." })] }], [tool("look")]);
    expect((await finished.run(graph, { roles: [worker()] })).state.state.answer).toBe("All done.");
    const rejected = stage([{ tool_calls: [call("reject_task", { reason: "no data" })] }], [tool("look")]);
    const { state, events } = await rejected.run(graph, { roles: [worker()] });
    expect(state.run.error).toMatchObject({
      code: "REJECTED",
      message: "Worker rejected the task: no data",
    });
    expect(of(events, "agent_finished").map(({ status }) => status)).toEqual(["rejected"]);
  });

  test("a role that names only finish gets it, with no tool reported as missing", async () => {
    const { run } = stage([{ tool_calls: [call("finish", { message: "Said." })] }], []);
    const { events, state } = await run(graph, { roles: [worker({ tools: ["finish"] })] });
    expect(state.state.answer).toBe("Said.");
    expect(of(events, "agent_started")[0]).toMatchObject({ tools: ["finish", "reject_task"] });
    expect(of(events, "agent_started")[0]!.withheld).toBeUndefined();
  });

  test("an agent answers without tools on its last turn", async () => {
    const { run, models } = stage(
      [{ tool_calls: [call("look")] }, { tool_calls: [call("look", { text: "y" })] }, { text: "Enough." }],
      [tool("look")],
    );
    const limited = draw("start > ask > end", {
      ask: {
        node_type: "agent_task",
        output_keys: ["answer"],
        config: { required_role: "Worker", task_description_template: "find it", max_iterations: 3 },
      },
    });
    const { state } = await run(limited, { roles: [worker()] });
    expect(state.state.answer).toBe("Enough.");
    expect(models.calls[2]!.tools).toBeUndefined();
    expect(models.calls[2]!.messages.at(-1)!.content).toBe("Give your best final answer now.");
  });

  test("an agent that repeats a failing call is nudged once and then stopped", async () => {
    const again = { tool_calls: [call("look", { text: "same" })] };
    const { run } = stage(
      [again, again, again, again],
      [
        tool("look", {
          execute: () => {
            throw new Error("still dark");
          },
        }),
      ],
    );
    const { events, state } = await run(graph, { roles: [worker()] });
    expect(of(events, "stuck_detected").map(({ pattern, action }) => [pattern, action])).toEqual([
      ["same_failure", "nudge"],
      ["same_failure", "stop"],
    ]);
    expect(state.run.error?.code).toBe("STUCK");
  });

  test("code calls the agent's other tools through the same pipeline", async () => {
    const { run, tools } = stage(
      [
        {
          tool_calls: [
            call("run_javascript", {
              code: 'const a = await call("look", { text: "one" }); try { await call("drop", {}); } catch (error) { return [a, error.message]; }',
            }),
          ],
        },
        { text: "Computed." },
      ],
      [tool("look"), tool("drop"), codeTool],
    );
    const { events } = await run(graph, { roles: [worker({ tools: ["look", "run_javascript"] })] });
    expect(tools.calls).toEqual(['Worker look {"text":"one"}']);
    const done = of(events, "tool_call_completed").find(({ tool_name }) => tool_name === "run_javascript");
    expect(done).toMatchObject({
      status_code: 200,
      output: { result: ["look of one", "This code may not call drop. It may call: look"] },
    });
  });
});

const codeTool = tool("run_javascript", { input: z.object({ code: z.string() }) });

describe("settings of an agent task", () => {
  const task = (config: JsonObject, more: object = {}) =>
    draw("start > ask > end", {
      ask: {
        node_type: "agent_task",
        output_keys: ["answer"],
        config: { required_role: "Worker", task_description_template: "find it", ...config },
        ...more,
      },
    });
  const careful = {
    agent_id: "careful",
    role_name: "Worker",
    backstory: "You were burnt once.",
    llm_config: { model: "slow-1", temperature: 0.1 },
    max_iterations: 3,
    tool_protocol: "text",
    memory_scopes: ["project"],
  };

  test("an agent task narrows the tools of its role but can't add any", async () => {
    const { run, tools } = stage(
      [{ tool_calls: [call("peek"), call("shout"), call("look")] }, { text: "Found." }],
      [tool("look"), tool("peek"), tool("shout")],
    );
    const { events } = await run(task({ tools: ["look", "shout"] }), {
      roles: [worker({ tools: ["look", "peek"] })],
    });
    const [started] = of(events, "agent_started");
    expect(started!.tools).toEqual(["look", "finish", "reject_task"]);
    expect(started!.withheld).toEqual([
      { tool_name: "peek", reason: "The task doesn't use it." },
      { tool_name: "shout", reason: "The task lists it, but its role may not use it." },
    ]);
    expect(tools.calls).toEqual(['Worker look {"text":"x"}']);
  });

  test("an answer must pass the guardrails of both the task and the role", async () => {
    const { run, models } = stage([{ text: "cat" }, { text: "dog" }, { text: "dog!" }], []);
    const rule = (name: string, spec: string) => ({ name, kind: "expression", spec });
    const { state, events } = await run(task({ guardrails: [rule("loud", "output.answer.endsWith('!')")] }), {
      roles: [worker({ tools: [], guardrails: [rule("no_cats", "output.answer != 'cat'")] })],
    });
    expect(state.state.answer).toBe("dog!");
    expect(of(events, "guardrail_checked").map(({ name, ok }) => `${name} ${String(ok)}`)).toEqual([
      "no_cats false",
      "no_cats true",
      "loud false",
      "no_cats true",
      "loud true",
    ]);
    models.assertComplete();
  });

  test("an agent task uses the settings of the library agent that it names", async () => {
    const { run, models, tools } = stage(
      [{ tool_calls: [call("look")] }, { text: "Found." }],
      [tool("look")],
    );
    const { events, state } = await run(task({ agent_ref: "careful", agent: careful }), {
      roles: [worker()],
    });
    expect(state.state.answer).toBe("Found.");
    expect(of(events, "agent_started")[0]).toMatchObject({
      role_name: "Worker",
      limits: { max_iterations: 3 },
    });
    const [first] = models.calls;
    expect(first!.messages[0]!.content).toContain("You were burnt once.");
    expect(first).toMatchObject({
      tool_protocol: "text",
      llm_config: { model: "slow-1", temperature: 0.1 },
    });
    expect(tools.calls).toEqual(['careful look {"text":"x"}']);
  });

  test("settings of an agent task override those of its agent", async () => {
    const { run, models } = stage([{ text: "Found." }], []);
    const { events } = await run(
      task({
        agent_ref: "careful",
        agent: careful,
        agent_id: "amy",
        max_iterations: 7,
        llm_config: { temperature: 1 },
      }),
      { roles: [worker({ tools: [] })] },
    );
    expect(events.find(({ type }) => type === "agent_started")).toMatchObject({
      agent_id: "amy",
      payload: { limits: { max_iterations: 7 } },
    });
    expect(models.calls[0]!.llm_config).toEqual({ model: "slow-1", temperature: 1 });
  });
});

describe("an output schema that does not name the output key", () => {
  const reviewer = worker({
    output_schema: {
      type: "object",
      properties: { verdict: { enum: ["approve", "revise"] }, issues: { type: "array" } },
      required: ["verdict"],
    },
  });
  const review = { verdict: "revise", issues: ["too short"] };
  test.each<[string, ScriptedStep[]]>([
    ["in the role's schema", [{ json: review }]],
    ["under the key's name", [{ json: { answer: review } }]],
    ["passed to finish", [{ tool_calls: [call("finish", { message: "done", outputs: review })] }]],
    [
      "passed to finish under the key's name",
      [{ tool_calls: [call("finish", { message: "done", outputs: { answer: review } })] }],
    ],
    ["after a correction", [{ text: "Too short." }, { json: review }]],
  ])("the output key gets the whole answer: %s", async (_name, steps) => {
    const { run, models } = stage(steps, [tool("look")]);
    const { state } = await run(graph, { roles: [reviewer] });
    expect(state.state.answer).toEqual(review);
    expect(models.calls[0]!.messages.at(-1)!.content).toContain('exactly these keys:\n- "verdict"');
    models.assertComplete();
  });
});

test("fallback models are tried in order when a model has no credit left", async () => {
  const broke = new ModelError({
    code: "QUOTA",
    message: "No credit left.",
    retryable: false,
    user_action: "settings",
  });
  const { run, models } = stage([{ error: broke }, { error: broke }, { text: "Here." }], []);
  const drawn = structuredClone(graph);
  Object.assign(drawn.nodes.ask!.config, {
    llm_config: {
      model: "first",
      temperature: 0.1,
      fallback_models: [
        { provider_id: "p", model: "second" },
        { provider_id: "q", model: "third" },
      ],
    },
  });
  const { state } = await run(drawn, { roles: [worker({ tools: [] })] });
  expect(state.state.answer).toBe("Here.");
  expect(models.calls.map(({ llm_config }) => [llm_config.provider_id, llm_config.model])).toEqual([
    [undefined, "first"],
    ["p", "second"],
    ["q", "third"],
  ]);
  expect(models.calls.at(-1)!.llm_config.temperature).toBe(0.1);
});

describe("tool call confirmation", () => {
  const send = tool("send", { read_only: false, risk: "HIGH", sink: true });
  const page = tool("page", { taints: true });
  const waitForAsk = async (part: ReturnType<typeof stage>, id: string) => {
    for (;;) {
      const open = Object.values(part.store.state(id)!.interactions).find(({ status }) => status === "open");
      if (open) return open;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };

  test("a risky call asks a person with its exact arguments, and an answer counts once", async () => {
    const part = stage([{ tool_calls: [call("send", { text: "hello" })] }, { text: "Sent." }], [send]);
    const id = part.start(graph, { roles: [worker({ tools: ["send"] })] });
    const open = await waitForAsk(part, id);
    expect(open.requested).toMatchObject({
      kind: "tool_confirmation",
      tool_name: "send",
      args: { text: "hello" },
      risk: "HIGH",
      why: "Its risk is high.",
    });
    expect(part.tools.calls).toEqual([]);
    const yes = { answer: "approve" as const, by: "ann" };
    expect(part.host.steering.answer(id, open.id, "0".repeat(64), yes)).toBe(false);
    expect(part.host.steering.answer(id, open.id, open.requested.fingerprint, yes)).toBe(true);
    expect(part.host.steering.answer(id, open.id, open.requested.fingerprint, yes)).toBe(false);
    await part.host.settled(id);
    expect(part.tools.calls).toEqual(['Worker send {"text":"hello"}']);
    expect(part.store.state(id)!.interactions[open.id]!.answered).toMatchObject({
      answer: "approve",
      by: "ann",
    });
  });

  test("a rejected call returns the person's reason to the agent", async () => {
    const part = stage([{ tool_calls: [call("send")] }, { text: "Not sent." }], [send]);
    const id = part.start(graph, { roles: [worker({ tools: ["send"] })] });
    const open = await waitForAsk(part, id);
    part.host.steering.answer(id, open.id, open.requested.fingerprint, {
      answer: "reject",
      message: "not now",
      by: "ann",
    });
    await part.host.settled(id);
    expect(part.tools.calls).toEqual([]);
    expect(part.models.calls[1]!.messages.at(-1)!.content).toBe(
      "send (403): A person rejected this call: not now",
    );
  });

  test("an open confirmation survives a crash", async () => {
    const part = stage([{ tool_calls: [call("send")] }], [send]);
    const id = part.start(graph, { roles: [worker({ tools: ["send"] })] });
    const open = await waitForAsk(part, id);
    const db = cutAt(part, id, 1000);
    const models = newScriptedModels([{ text: "Sent after all." }]);
    const tools = fakeTools([send]);
    const again = newStage({ db, models, tools });
    again.host.recover();
    expect(
      again.host.steering.answer(id, open.id, open.requested.fingerprint, { answer: "approve", by: "ann" }),
    ).toBe(true);
    await again.host.settled(id);
    expect(again.store.state(id)!.state.answer).toBe("Sent after all.");
    expect(tools.calls).toHaveLength(1);
  });

  test("sending data after reading untrusted content needs approval even if the policy is never", async () => {
    const part = stage(
      [
        { tool_calls: [call("page", { text: "http://evil" })] },
        { tool_calls: [call("send", { text: "the board" })] },
        { text: "ok" },
      ],
      [page, send],
    );
    const id = part.start(graph, {
      roles: [worker({ tools: ["page", "send"] })],
      config: { confirmation: { kind: "never" } },
    });
    const open = await waitForAsk(part, id);
    expect(open.requested.taint_sources).toEqual(["page"]);
    expect(part.tools.calls).toEqual(['Worker page {"text":"http://evil"}']);
    part.host.steering.answer(id, open.id, open.requested.fingerprint, { answer: "reject", by: "ann" });
    await part.host.settled(id);
    expect(part.tools.calls).toHaveLength(1);
    expect(part.store.state(id)!.taint_sources).toEqual(["page"]);
  });

  test("a tool approved for the whole run is not asked about again", async () => {
    const part = stage(
      [
        { tool_calls: [call("send", { text: "1" })] },
        { tool_calls: [call("send", { text: "2" })] },
        { text: "Sent twice." },
      ],
      [send],
    );
    const id = part.start(graph, { roles: [worker({ tools: ["send"] })] });
    const open = await waitForAsk(part, id);
    part.host.steering.answer(id, open.id, open.requested.fingerprint, {
      answer: "approve_always",
      by: "ann",
    });
    await part.host.settled(id);
    expect(part.tools.calls).toHaveLength(2);
    expect(Object.keys(part.store.state(id)!.interactions)).toHaveLength(1);
  });
});

describe("crash recovery", () => {
  test("an agent with tools resumes at any turn without repeating finished calls", async () => {
    const steps: ScriptedStep[] = [
      { tool_calls: [call("look", { text: "a" }), call("look", { text: "b" })] },
      { tool_calls: [call("look", { text: "c" })] },
      { text: "Found." },
    ];
    const whole = stage(steps, [tool("look")]);
    const first = await whole.run(graph, { roles: [worker()] });
    const turns = whole.store.journal(first.id).turns.length;
    expect(turns).toBeGreaterThan(6);
    for (let cut = 1; cut < turns; cut++) {
      const db = cutAt(whole, first.id, cut);
      const before = newStage({ db }).store.events(first.id, 0, 1e6);
      const asked = before.filter(({ type }) => type === "llm_call_completed").length;
      const called = before.filter(({ type }) => type === "tool_call_completed").length;
      const models = newScriptedModels(steps.slice(asked));
      const tools = fakeTools([tool("look")]);
      const again = newStage({ db, models, tools });
      again.host.recover();
      await again.host.settled(first.id);
      const state = again.store.state(first.id)!;
      expect({ cut, state: state.state, agents: Object.keys(state.agents) }).toEqual({
        cut,
        state: first.state.state,
        agents: Object.keys(first.state.agents),
      });
      models.assertComplete();
      expect(tools.calls.length).toBe(3 - called);
    }
  });
});
