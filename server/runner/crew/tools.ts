import { CREW_TOOL_NOTES } from "@/server/domain/crew/crew-tools";
import { isSince } from "@/server/domain/run/edition";
import type { RunTool } from "../agent/task";
import type { CrewTools } from "./crew";
import { boardTools } from "./tools/board";
import { consensusTools } from "./tools/consensus";
import { delegationTools } from "./tools/delegation";
import { handoffTools } from "./tools/handoff";
import { planTools } from "./tools/plan";
import { teamTools } from "./tools/team";

/** The names of all tools that the run itself executes. */
export const CREW_TOOLS: readonly string[] = CREW_TOOL_NOTES.map(({ name }) => name);

/** The tools of a crew by its way of working. */
export const toolsOf: CrewTools = (crew, agent, level) => {
  const { process } = crew.config;
  const always: RunTool[] = [];
  const byRole: RunTool[] = [...planTools(crew), ...teamTools(crew), ...consensusTools(crew)];
  // What a delegate hands off is its own part, whose result goes to its delegator.
  if ((level === 0 || isSince(crew.run.s.run, 5)) && crew.config.agents.length > 1) {
    const [handoff, parallelHandoff] = handoffTools(crew, agent);
    (process === "swarm" || crew.config.allow_handoffs ? always : byRole).push(handoff);
    if (level === 0) byRole.push(parallelHandoff);
  }
  (process === "hierarchical" ? always : byRole).push(...boardTools(crew));
  if (agent.allow_delegation && crew.config.agents.length > 1 && level < agent.max_delegation_depth)
    always.push(...delegationTools(crew, agent));
  return { always, byRole };
};
