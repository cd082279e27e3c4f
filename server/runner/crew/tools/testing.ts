import { as, call, calls, role, runCrew } from "@/server/conformance/stage";
import type { JsonObject } from "@/server/domain/base/values";
import type { RunState } from "@/server/domain/run";
import { CREW_TOOLS } from "../tools";

// A crew whose agents call its own tools, and what those answered.

/** What tools answered an agent, in the order of its calls: the status and the text. */
export const answersTo = (state: RunState, agent_id: string): [status: number, text: string][] =>
  Object.values(state.agents)
    .filter((view) => view.agent_id === agent_id)
    .flatMap(({ messages }) => messages.filter(({ role: from }) => from === "tool"))
    .map(({ content }) => {
      const [, status, text] = /^\w+ \((\d+)\): (.*)$/s.exec(content) ?? [];
      return [Number(status), text ?? ""];
    });

/** Roles of these names that may use every tool of a crew. */
export const skilled = (...names: string[]) => names.map((name) => role(name, [...CREW_TOOLS]));

/**
 * Runs a crew in which one after another of these, by its agent and role, makes its calls in a message of its own and
 * says that it is done; each has a task of its own.
 */
export function runTalk(
  talk: readonly (readonly [agent_id: string, ...calls: (readonly [tool: string, args?: JsonObject])[]])[],
  crew: Parameters<typeof runCrew>[1],
  plan: Partial<NonNullable<NonNullable<Parameters<typeof runCrew>[2]>["plan"]>> = {},
) {
  const { tasks = [], ...more } = plan;
  return runCrew(
    [
      ...talk.flatMap(([who, ...made]) => [
        as(who, calls(...made.map(([tool, args]) => call(tool, args)))),
        as(who, { text: `${who} finished` }),
      ]),
      ...tasks.map(() => ({ text: "done" })),
    ],
    crew,
    {
      roles: skilled(...new Set(crew.agents.map(({ role_name }) => role_name))),
      plan: {
        ...more,
        tasks: [
          ...talk.map(([who], at) => ({
            task_id: `turn_${at + 1}`,
            description: `turn ${at + 1}`,
            assigned_agent: who,
            dependencies: at === 0 ? [] : [`turn_${at}`],
          })),
          ...tasks,
        ],
      },
    },
  );
}
