import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import type { JsonObject } from "@/server/domain/base/values";
import { crewDiagnostics, planDiagnostics } from "@/server/domain/crew/crew-diagnostics";
import { leaderOf } from "@/server/domain/crew/leader";
import { teamNow } from "@/server/domain/crew/team-now";
import { NodeFailure } from "@/server/domain/nodes";
import type { CrewAnswer, CrewRequest } from "@/server/domain/nodes/define";
import type { CrewRuntime } from "../node/ports";
import { Crew } from "./crew";
import { followPattern } from "./patterns/follow-pattern";
import { mediate } from "./patterns/mediate";
import { relay } from "./patterns/relay";
import { vote } from "./patterns/vote";
import { runTasks } from "./plan/run-tasks";
import { sample } from "./sample";
import { toolsOf } from "./tools";
import { valueOf } from "./values";

/** The ways in which a crew works: each lets the agents work until there is a value for every output key. */
const PROCESSES = {
  sequential: runTasks,
  parallel: runTasks,
  hierarchical: mediate,
  swarm,
  consensus: vote,
  sample,
  custom: followPattern,
} as const satisfies Record<string, (crew: Crew) => Flow<JsonObject>>;

/** Lets the agents of a crew reach a goal together, in the way that the crew works. */
export function* runCrew(run: CrewRuntime, request: CrewRequest): Flow<CrewAnswer> {
  const { crew: drawn } = request;
  if (!drawn) throw new NodeFailure("CONFIG", `${run.node.name || run.node.id} has no crew. Add its agents.`);
  const config = teamNow(drawn, run.s.team_changes[run.node.id]);
  const diagnostics = [
    ...crewDiagnostics(config),
    ...(request.plan ? planDiagnostics(config, request.plan) : []),
  ];
  const error = diagnostics.find(({ severity }) => severity === "error");
  if (error) throw new NodeFailure("CONFIG", error.message, { user_action: "edit_graph" });
  const crew = new Crew(run, drawn, request, toolsOf);
  const manager =
    config.process === "hierarchical" || config.process === "consensus" || config.manager?.agent_id
      ? leaderOf(config).agent_id
      : undefined;
  run.emit({
    type: "crew_started",
    payload: {
      process: config.process,
      goal: request.description,
      members: config.agents.map(({ agent_id, role_name }) => {
        const description = run.findRole(role_name)?.description;
        return { agent_id, role_name, ...defined({ description: description || undefined }) };
      }),
      ...defined({ manager: manager || undefined }),
    },
  });
  try {
    const output = yield* PROCESSES[config.process](crew);
    if (crew.view.next_agent)
      run.warn(
        "NEXT_UNUSED",
        `${crew.view.next_agent} should have continued in ${crew.name}, but nothing was left to do.`,
      );
    run.emit({ type: "crew_finished", payload: { status: "completed" } });
    yield* crew.savePlan();
    return { output, ...crew.spent };
  } catch (error) {
    run.emit({ type: "crew_finished", payload: { status: "failed" } });
    throw error;
  }
}

/**
 * One agent works at a time and may hand off to another, which continues the same conversation; an agent that answers
 * instead ends it. The tool checks who may hand off to whom, and how often.
 */
function* swarm(crew: Crew): Flow<JsonObject> {
  const { run, config } = crew;
  const first = config.entry_agent ? crew.member(config.entry_agent) : config.agents[0];
  if (!first)
    throw new NodeFailure("CONFIG", `${crew.name} starts with "${config.entry_agent}", who isn't a member.`);
  const { result } = yield* relay(
    crew,
    first,
    {
      task: "Reach the goal, or hand off to a team member who can do it better.",
      message: crew.goal,
      output_keys: crew.request.output_keys,
      inputs: run.input,
      history: [],
    },
    { idOf: (hop) => `hop-${hop}`, wish: "Reach the goal, or hand off to someone who can do it better." },
  );
  return crew.outputs(valueOf(result.output));
}
