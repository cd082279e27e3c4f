import { isGranted } from "@/server/domain/tool/tool";

/** How an agent comes by a crew tool. `way`: the way the crew works brings it along; `role`: its role has to name it. */
export type CrewToolGrant = "always" | "way" | "delegation" | "role";

export interface CrewToolNote {
  name: string;
  description: string;
  grant: CrewToolGrant;
}

/** The tools that the run itself executes, described for people. Their schemas depend on the crew. */
export const CREW_TOOL_NOTES: readonly CrewToolNote[] = [
  {
    name: "handoff",
    description:
      "Hands the work off to another agent permanently. All agents of a swarm have it; in other crews, roles that list it, or all agents if the crew allows handoffs.",
    grant: "way",
  },
  {
    name: "parallel_handoff",
    description: "Lets several coworkers work in parallel and collects their results.",
    grant: "role",
  },
  {
    name: "delegate_task",
    description: "Delegates a task to a coworker and gets its result.",
    grant: "delegation",
  },
  { name: "ask_coworker", description: "Asks a coworker a question.", grant: "delegation" },
  { name: "finish", description: "Gives the final answer and ends the work.", grant: "always" },
  { name: "reject_task", description: "Sends a task back with a reason.", grant: "always" },
  { name: "plan_read", description: "Reads the plan with the status of every task.", grant: "role" },
  { name: "plan_add_task", description: "Adds a task to the plan.", grant: "role" },
  {
    name: "plan_update_task",
    description: "Updates a task's status or notes.",
    grant: "role",
  },
  { name: "plan_assign_task", description: "Assigns a task to an agent.", grant: "role" },
  {
    name: "plan_estimate_duration",
    description: "Estimates how long a task will take.",
    grant: "role",
  },
  {
    name: "plan_set_dependencies",
    description: "Sets which tasks must finish before another.",
    grant: "role",
  },
  {
    name: "write_board",
    description: "Posts to the board, which all coworkers see.",
    grant: "role",
  },
  { name: "read_board", description: "Reads coworkers' posts on the board.", grant: "role" },
  { name: "create_team", description: "Creates a team of coworkers for a purpose.", grant: "role" },
  { name: "modify_team", description: "Adds agents to a team or removes them.", grant: "role" },
  { name: "dissolve_team", description: "Dissolves a team; its agents stay in the crew.", grant: "role" },
  { name: "propose_decision", description: "Puts a decision to a vote.", grant: "role" },
  { name: "vote_on_proposal", description: "Votes on a proposal, with a reason.", grant: "role" },
  { name: "finalize_consensus", description: "Counts the votes on a proposal.", grant: "role" },
  {
    name: "request_approval",
    description: "Asks a person for approval. If no one answers in time, the request is rejected.",
    grant: "role",
  },
  {
    name: "approval_gateway",
    description: "Asks a person for approval, and escalates to others if there's no answer.",
    grant: "role",
  },
  {
    name: "request_feedback",
    description: "Shows something to a person and asks questions about it.",
    grant: "role",
  },
  {
    name: "escalate_to_human",
    description: "Escalates a decision to a person. If it's urgent, the whole run waits.",
    grant: "role",
  },
];

const crewNames: ReadonlySet<string> = new Set(CREW_TOOL_NOTES.map(({ name }) => name));

/**
 * Tools of its role that a delegate loses if it gets only those that both roles may use. The crew's own tools don't
 * count.
 */
export const lostTools = (caller: readonly string[], delegate: readonly string[]): string[] =>
  delegate.filter((tool) => !crewNames.has(tool) && !isGranted(caller, tool));

/** Why an agent without coworkers doesn't get a crew tool that its role names. */
export const NEEDS_CREW = "It needs a crew with other agents.";

/** Tools without effects outside their crew: they never need approval. */
export const freeTools: ReadonlySet<string> = crewNames;

/** What problems ask of the tools that there are: why one is off, and whether it changes something outside. */
export function toolFacts(
  tools: readonly {
    name: string;
    unavailable?: string | null | undefined;
    read_only: boolean;
    sink: boolean;
  }[],
): { whyUnavailable(name: string): string | null; actsOutside(name: string): boolean } {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    whyUnavailable: (name) => byName.get(name)?.unavailable ?? null,
    actsOutside: (name) => {
      const tool = byName.get(name);
      return tool !== undefined && tool.sink && !tool.read_only;
    },
  };
}

/**
 * Whether a role may name a tool: it is registered, the run executes it, or it stands for all tools of a known MCP
 * server.
 */
export function newIsToolKnown(
  names: Iterable<string>,
  mcpServers: Iterable<string>,
): (name: string) => boolean {
  const known = new Set(names);
  const servers = new Set(mcpServers);
  return (name) => {
    if (known.has(name) || crewNames.has(name)) return true;
    const server = /^mcp:([^/]+)\/\*$/.exec(name)?.[1];
    return server !== undefined && servers.has(server);
  };
}
