import { describe, expect, test } from "vitest";
import { call, calls, newScriptedStage, of, role, tool } from "@/server/conformance/stage";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import type { ScriptedStep } from "@/server/llm/scripted";

const graph = draw("start > ask > end", {
  ask: {
    node_type: "agent_task",
    output_keys: ["answer"],
    config: { required_role: "Worker", task_description_template: "find it" },
  },
});
const look = (text: string) => call("look", { text });

/** One agent at work: what its tools were called with, and what it was answered. */
async function work(
  steps: readonly ScriptedStep[],
  { worker = {}, tools = [tool("look")] }: { worker?: JsonObject; tools?: ReturnType<typeof tool>[] } = {},
) {
  const stage = newScriptedStage(steps, tools);
  const run = await stage.run(graph, { roles: [role("Worker", ["look"], worker)] });
  stage.models.assertComplete();
  const last = stage.models.calls.at(-1)!.messages;
  return {
    ...run,
    called: stage.tools.calls.map((one) => one.replace(/^Worker /, "")),
    answers: last.filter(({ role: from }) => from === "tool").map(({ content }) => content),
    rejected: of(run.events, "tool_call_refused"),
  };
}
const done: ScriptedStep = { text: "done" };

describe("several calls in one message", () => {
  test("at most eight calls of one message run, and each further call is refused", async () => {
    const many = Array.from({ length: 10 }, (_, at) => look(`${at}`));
    const { called, answers, rejected } = await work([calls(...many), done]);
    const reason = "At most 8 calls in one message; this one was not executed.";
    expect(called).toHaveLength(8);
    expect(answers).toEqual([
      ...Array.from({ length: 8 }, (_, at) => `look (200): look of ${at}`),
      `look (400): ${reason}`,
      `look (400): ${reason}`,
    ]);
    expect(rejected).toEqual(
      [8, 9].map((at) => ({
        tool_name: "look",
        args: { text: `${at}` },
        status_code: 400,
        reason,
        by_call: "ask#1/1/Worker/turn0/call1",
        tool_call_id: `call_${at + 1}`,
      })),
    );
  });

  test("the first finishing call counts after all other calls, and later ones are ignored", async () => {
    const { state, called, rejected } = await work([
      calls(call("finish", { message: "first" }), look("x"), call("finish", { message: "second" })),
    ]);
    expect([state.state.answer, called]).toEqual(["first", ['look {"text":"x"}']]);
    expect(rejected.map(({ status_code, reason, args }) => [status_code, reason, args])).toEqual([
      [409, "Multiple endings detected, ignoring this one.", { message: "second" }],
    ]);
  });

  test("a finishing call that is refused leaves the next one in effect", async () => {
    const { state, rejected } = await work([
      calls(call("reject_task", { reason: "" }), call("finish", { message: "second" })),
    ]);
    expect(state.state.answer).toBe("second");
    expect(rejected.map(({ tool_name, status_code }) => [tool_name, status_code])).toEqual([
      ["reject_task", 400],
    ]);
  });

  test("an unreadable call gets an error, and the other calls run", async () => {
    const { answers, called } = await work([
      calls({ tool_name: "look", args: {}, fault: "It was not JSON." }, look("x")),
      done,
    ]);
    expect(answers).toEqual(["look (400): It was not JSON.", "look (200): look of x"]);
    expect(called).toHaveLength(1);
  });
});

test("an agent without tools gets an error for any call", async () => {
  const { answers, rejected } = await work([calls(look("x"), call("lok")), done], { worker: { tools: [] } });
  expect(answers).toEqual([
    'look (404): There is no tool named "look". Available: none.',
    'lok (404): There is no tool named "lok". Available: none.',
  ]);
  expect(rejected).toHaveLength(2);
});

describe("tool guardrails", () => {
  const rule = (more: JsonObject) => ({ guardrails: [{ name: "rule", kind: "expression", ...more }] });
  test("a tool_input guardrail blocks a call with its reason and leaves others alone", async () => {
    const { called, answers } = await work([calls(look("secret"), look("open")), done], {
      worker: rule({ target: "tool_input", spec: "input.args.text != 'secret'", max_retries: 5 }),
    });
    expect(called).toEqual(['look {"text":"open"}']);
    expect(answers).toEqual([
      "look (403): input.args.text != 'secret' is not true.",
      "look (200): look of open",
    ]);
  });
  test("a tool_output guardrail withholds a result, but the run is still tainted", async () => {
    const { called, answers, state } = await work([calls(look("secret")), done], {
      worker: rule({ target: "tool_output", spec: "output.output != 'look of secret'", max_retries: 5 }),
      tools: [tool("look", { taints: true })],
    });
    expect(called).toHaveLength(1);
    expect(answers).toEqual(["look (403): output.output != 'look of secret' is not true."]);
    // Its reason may repeat what was read.
    expect(state.taint_sources).toEqual(["look"]);
  });
  test("a tool_output guardrail does not check a failed call", async () => {
    const { answers, events } = await work([calls(look("x")), done], {
      worker: rule({ target: "tool_output", spec: "false" }),
      tools: [
        tool("look", {
          execute: () => {
            throw new Error("dark");
          },
        }),
      ],
    });
    expect([answers, of(events, "guardrail_checked")]).toEqual([["look (500): look failed: dark"], []]);
  });
});

test("a non-text result is shown as JSON, and an empty one as null", async () => {
  const { answers } = await work([calls(look("x"), call("see", { text: "y" })), done], {
    worker: { tools: ["look", "see"] },
    tools: [tool("look", { execute: () => ({ a: [1] }) }), tool("see", { execute: () => null })],
  });
  expect(answers).toEqual(['look (200): {"a":[1]}', "see (200): null"]);
});

test("an agent runs no more calls at once than its concurrency limit", async () => {
  let now = 0;
  let most = 0;
  const slow = tool("look", {
    execute: async () => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      now--;
      return "seen";
    },
  });
  const at = async (tool_concurrency?: number) => {
    most = 0;
    const stage = newScriptedStage([calls(...["a", "b", "c", "d", "e", "f"].map(look)), done], [slow]);
    const config = { ...graph.nodes.ask!.config } as JsonObject;
    if (tool_concurrency !== undefined)
      Object.assign(config, {
        agent_ref: "w",
        agent: { agent_id: "w", role_name: "Worker", tool_concurrency },
      });
    await stage.run(
      draw("start > ask > end", { ask: { node_type: "agent_task", output_keys: ["answer"], config } }),
      { roles: [role("Worker", ["look"])] },
    );
    return most;
  };
  expect([await at(), await at(1), await at(2)]).toEqual([4, 1, 2]);
});
