import type { Flow } from "@/server/domain/base/durable";
import type { JsonObject } from "@/server/domain/base/values";
import { NodeFailure } from "@/server/domain/nodes";
import type { Crew } from "./crew";
import { relay } from "./relay";
import { valueOf } from "./values";

/**
 * One agent works at a time and may hand over to another, who goes on with the same conversation; whoever answers
 * instead of handing over ends it. The tool checks who may hand over to whom, and how often.
 */
export function* swarm(crew: Crew): Flow<JsonObject> {
  const { run, config } = crew;
  const first = config.entry_agent ? crew.member(config.entry_agent) : config.agents[0];
  if (!first)
    throw new NodeFailure("CONFIG", `${crew.name} begins with "${config.entry_agent}", who is not in it.`);
  const { result } = yield* relay(
    crew,
    first,
    {
      task: "Reach the goal, or hand over to whoever of your team can do it better.",
      output_keys: crew.request.output_keys,
      inputs: run.input,
      history: [],
    },
    { idOf: (hop) => `hop-${hop}`, wish: "Reach the goal, or hand over to whoever can do it better." },
  );
  return crew.outputs(valueOf(result.output));
}
