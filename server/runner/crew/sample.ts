import { JUDGE } from "@/server/domain/agent/judge";
import type { AgentConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import { must } from "@/server/domain/base/must";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { agreement } from "@/server/domain/crew/samples";
import { NodeFailure } from "@/server/domain/nodes";
import { isSince } from "@/server/domain/run/edition";
import { concernsRun, errorOf } from "../agent/call-model";
import { Children } from "../node/flow";
import type { Crew } from "./crew";
import { workOrHandOff } from "./patterns/relay";
import { textOf, valueOf } from "./values";

/**
 * One agent answers several times, without knowing of its other answers, and what most of them agree on stands; the
 * first of equals. Where no two agree, a judge chooses among them. Each answer counts against the run's budget like
 * every other, and one that fails is left out.
 */
export function* sample(crew: Crew): Flow<JsonObject> {
  const { run, config, name } = crew;
  const agent =
    config.agents.find(({ agent_id }) => agent_id === config.manager?.agent_id) ?? config.agents[0];
  if (!agent) throw new NodeFailure("CONFIG", `${name} has no members. Add an agent.`);
  const answers = yield* answersOf(crew, agent);
  const values = answers.map(valueOf);
  const { at, votes } = agreement(values, { signs: isSince(run.s.run, 2) });
  const chosen = votes > 1 || values.length === 1 ? at : yield* judged(crew, agent, values);
  const how =
    votes > 1
      ? `${votes} of ${values.length} answers agree`
      : `no two of ${values.length} answers agree; a judge chose answer ${chosen + 1}`;
  crew.post({
    from: agent.agent_id,
    to: "User",
    message: `${how}: ${textOf(values[chosen] ?? null)}`,
    kind: "reply",
  });
  if (votes === 1 && values.length > 1) run.warn("NO_AGREEMENT", `In ${name} ${how}.`);
  return crew.outputs(valueOf(must(answers, chosen)));
}

/** All answers received, in the order of the requests. Throws if there are none. */
function* answersOf(crew: Crew, agent: AgentConfig): Flow<JsonObject[]> {
  const children = new Children<JsonObject>();
  for (let nth = 1; nth <= crew.config.samples; nth++) children.add(String(nth), answer(crew, agent, nth));
  const came = new Map<string, JsonObject>();
  let failure: unknown;
  try {
    while (children.size > 0) {
      const next = yield* children.next();
      if (next.ok) came.set(next.id, next.value);
      else if (concernsRun(errorOf(next.error)) || errorOf(next.error).code === "CONFIG") throw next.error;
      else failure = next.error;
    }
  } finally {
    children.stop();
  }
  if (came.size === 0) throw failure;
  return [...came.keys()].toSorted((a, b) => Number(a) - Number(b)).map((nth) => must(came, nth));
}

function* answer(crew: Crew, agent: AgentConfig, nth: number): Flow<JsonObject> {
  const task = "Reach the goal.";
  const work = {
    task_id: `sample-${nth}`,
    task,
    message: crew.goal,
    output_keys: crew.request.output_keys,
    // A provider that repeats itself for the same seed would give one answer many times.
    llm_config: {
      ...agent.llm_config,
      ...defined({
        seed: agent.llm_config?.seed === undefined ? undefined : agent.llm_config.seed + nth - 1,
      }),
    },
  };
  const { result } = yield* workOrHandOff(crew, agent, work, task);
  return result.output;
}

function* judged(crew: Crew, agent: AgentConfig, values: readonly Json[]): Flow<number> {
  const labels = values.map((_, at) => `answer_${at + 1}`);
  const { output } = yield* crew.work(agent, {
    task_id: "choice",
    purpose: "judge",
    may_use_tools: false,
    role: JUDGE,
    task: `Several answers to the same request disagree. Choose the one that meets the request best.\n${crew.fences.fence("goal", crew.goal)}`,
    inputs: Object.fromEntries(values.map((value, at) => [labels[at] ?? "", value])),
    output_keys: [],
    answer_schema: {
      type: "object",
      properties: {
        choice: { type: "string", enum: labels },
        reason: { type: "string", description: "The deciding reason" },
      },
      required: ["choice", "reason"],
      additionalProperties: false,
    },
  });
  return labels.indexOf(typeof output.choice === "string" ? output.choice : "");
}
