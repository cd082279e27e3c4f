import { z } from "zod";
import { RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { parseJson } from "@/server/domain/base/json";
import type { JsonObject } from "@/server/domain/base/values";
import type { CrewConfig } from "@/server/domain/crew/crew";
import type { ExecutionPlan } from "@/server/domain/crew/plan";
import type { PeopleRules, RunEvent, RunEventOf } from "@/server/domain/run/events";
import { of as eventsOf } from "@/server/domain/run/findings/finding";
import { draw } from "@/server/domain/testing/drawing";
import { newScriptedModels, type ScriptedCall, type ScriptedStep } from "@/server/llm/scripted";
import { fakeTools, newStage } from "@/server/runner/testing";
import { defineTool, type ToolInterface } from "@/server/tools/define";

// What the conformance tests share: a stage with a scripted model, crews drawn in one node, and looks at events.

/** The payloads of all events of a type, in order. */
export const of = <T extends RunEvent["type"]>(
  events: readonly RunEvent[],
  type: T,
): RunEventOf<T>["payload"][] => eventsOf(events, type).map(({ payload }) => payload);

export const call = (tool_name: string, args: JsonObject = {}): ScriptedCall => ({ tool_name, args });
export const calls = (...tool_calls: ScriptedCall[]): ScriptedStep => ({ tool_calls });
/** Only the agent of this role answers so. */
export const as = <S extends ScriptedStep>(role: string, step: S): S => ({
  ...step,
  matches: new RegExp(`^You are ${role}\\b`),
});

const OneText = z.object({ text: z.string() });

/** A tool that takes a text and answers with its own name and that text. */
export const tool = (name: string, more: Partial<Parameters<typeof defineTool>[0]> = {}): ToolInterface =>
  defineTool({
    name,
    description: `Does ${name}`,
    input: OneText,
    source: "builtin",
    risk: "LOW",
    read_only: true,
    execute: (input) => `${name} of ${OneText.parse(input).text}`,
    ...more,
  });

export const role = (name: string, tools: string[] = [], more: JsonObject = {}): RoleDefinition =>
  RoleDefinition.parse({ name, description: `${name} of the test`, tools, ...more });

export function newScriptedStage(
  steps: readonly ScriptedStep[],
  tools: readonly ToolInterface[] = [],
  people?: PeopleRules,
) {
  const models = newScriptedModels(steps);
  const host = fakeTools(tools);
  return { models, tools: host, ...newStage({ models, tools: host, ...defined({ people }) }) };
}

const asStored = (value: unknown) => parseJson(JSON.stringify(value));

/** A workflow of one crew, whose goal is "the goal" and whose output is `result`. */
export const crewGraph = (crew: z.input<typeof CrewConfig>, plan?: z.input<typeof ExecutionPlan>) =>
  draw("start > crew > end", {
    crew: {
      node_type: "crew_task",
      output_keys: ["result"],
      config: {
        plan_description_template: "the goal",
        crew: asStored(crew),
        ...defined({ plan: plan ? asStored(plan) : undefined }),
      },
    },
  });

/** Runs a crew whose agents' roles are called as the agents are, unless they say otherwise. */
export async function runCrew(
  steps: readonly ScriptedStep[],
  crew: z.input<typeof CrewConfig>,
  more: {
    roles?: readonly RoleDefinition[];
    tools?: readonly ToolInterface[];
    plan?: z.input<typeof ExecutionPlan>;
  } = {},
) {
  const stage = newScriptedStage(steps, more.tools);
  const named = new Set(more.roles?.map(({ name }) => name));
  const others = crew.agents.map(({ role_name }) => role_name).filter((name) => !named.has(name));
  const run = await stage.run(crewGraph(crew, more.plan), {
    roles: [...(more.roles ?? []), ...[...new Set(others)].map((name) => role(name))],
  });
  return { ...run, models: stage.models, tools: stage.tools };
}

export const agent = (agent_id: string, more: JsonObject = {}) => ({
  agent_id,
  role_name: agent_id,
  ...more,
});
