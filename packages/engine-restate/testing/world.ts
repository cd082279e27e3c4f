import { z } from "zod";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";
import { fakeModels, fakeTools, role } from "@/server/runner/testing";
import { defineTool } from "@/server/tools/define";

/** A call of the world outside: when it began and ended, in which process. */
export interface WorldCall {
  at: number;
  worker: string;
  what: "begins" | "ends";
  who: string;
  call: string;
}

/** The label of workers, and the tool that only those with it have. */
export const LABEL = "gpu";
export const LABELED = "render";

/** How long each call takes, in milliseconds. */
export const CALL_MS = 60;

/** Tools and a model that take a while and tell of each call; what they answer depends on what is asked alone. */
export function newWorld(worker: string, note: (call: WorldCall) => void, ms = CALL_MS) {
  const call = async (who: string, name: string) => {
    note({ at: Date.now(), worker, what: "begins", who, call: name });
    await new Promise((resolve) => setTimeout(resolve, ms));
    note({ at: Date.now(), worker, what: "ends", who, call: name });
  };
  const tool = (name: string, risk: "LOW" | "HIGH") =>
    defineTool({
      name,
      description: "Does something outside",
      input: z.object({ at: z.string(), who: z.string() }),
      source: "builtin",
      risk,
      on_crash: "repeat",
      execute: async ({ who, at }) => {
        await call(who, at);
        return { done: at };
      },
    });
  const labeled = tool(LABELED, "LOW");
  const models = fakeModels(async ({ messages }) => {
    await call(/run \d+/.exec(JSON.stringify(messages))?.[0] ?? "", "model");
    return "done";
  });
  return { models, labeled, tools: fakeTools([tool("act", "LOW"), tool("confirmed", "HIGH"), labeled]) };
}

export const act = (at: string, tool_name = "act"): JsonObject => ({
  node_type: "tool_call",
  config: { tool_name, args: { at, who: { $template: "{{who}}" } } },
});
const names = (count: number, prefix: string) => Array.from({ length: count }, (_, k) => `${prefix}${k}`);
const acts = (list: readonly string[]) => Object.fromEntries(list.map((at) => [at, act(at)]));

const steps = names(12, "step");
const branches = names(8, "branch");

/** What is drawn in the tests, by name. */
export const DRAWINGS = {
  chain: draw(`start > ${steps.map((step, k) => `${step} > a${k}`).join(" > ")} > end`, acts(steps)),
  "fan-out": draw(branches.map((at) => `start > ${at} > end`).join("; "), acts(branches)),
  agent: draw("start > one > ask > two > w > end", {
    ...acts(["one", "two"]),
    ask: {
      node_type: "agent_task",
      config: { required_role: "Worker", task_description_template: "Help {{who}}." },
    },
    w: { node_type: "wait", config: { ms: 200 } },
  }),
  labeled: draw(
    `start > ${steps.map((step, k) => `${step} > a${k}`).join(" > ")} > end`,
    Object.fromEntries(steps.map((at) => [at, act(at, LABELED)])),
  ),
  approval: draw("start > one > sure > two > end", {
    ...acts(["one", "two"]),
    sure: act("sure", "confirmed"),
  }),
};
export const ROLES = [role("Worker")];
