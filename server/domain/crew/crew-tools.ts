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
      "Hands the work over to another agent for good. Where a crew works by handing over everybody has it, elsewhere those whose role names it.",
    grant: "way",
  },
  {
    name: "parallel_handoff",
    description: "Lets several coworkers work at the same time and gets their results.",
    grant: "role",
  },
  {
    name: "delegate_task",
    description: "Lets a coworker do a task and gets its result.",
    grant: "delegation",
  },
  { name: "ask_coworker", description: "Asks a coworker a question.", grant: "delegation" },
  { name: "finish", description: "Gives the final answer and ends the work.", grant: "always" },
  { name: "reject_task", description: "Gives a task back, with the reason.", grant: "always" },
  { name: "plan_read", description: "Reads the plan with the state of every task.", grant: "role" },
  { name: "plan_add_task", description: "Adds a task to the plan.", grant: "role" },
  {
    name: "plan_update_task",
    description: "Changes a task's status, or what is noted about it.",
    grant: "role",
  },
  { name: "plan_assign_task", description: "Gives a task to an agent.", grant: "role" },
  {
    name: "plan_estimate_duration",
    description: "Says how long a task will probably take.",
    grant: "role",
  },
  {
    name: "plan_set_dependencies",
    description: "Says which tasks must be done before another.",
    grant: "role",
  },
  {
    name: "write_board",
    description: "Writes a bulletin that all coworkers see.",
    grant: "role",
  },
  { name: "read_board", description: "Reads the bulletins of coworkers.", grant: "role" },
  { name: "create_team", description: "Forms a team of coworkers for a purpose.", grant: "role" },
  { name: "modify_team", description: "Adds agents to a team, or takes some out.", grant: "role" },
  { name: "dissolve_team", description: "Dissolves a team; its agents stay in the crew.", grant: "role" },
  { name: "propose_decision", description: "Puts a decision to the vote.", grant: "role" },
  { name: "vote_on_proposal", description: "Votes on a proposal, with a reason.", grant: "role" },
  { name: "finalize_consensus", description: "Counts the votes of a proposal.", grant: "role" },
  {
    name: "request_approval",
    description: "Asks a person to approve something; no answer in time means no.",
    grant: "role",
  },
  {
    name: "approval_gateway",
    description: "Asks a person to approve something, and others after them where nobody answers.",
    grant: "role",
  },
  {
    name: "request_feedback",
    description: "Shows a person something and asks them questions about it.",
    grant: "role",
  },
  {
    name: "escalate_to_human",
    description: "Puts to a person what an agent cannot decide; where it is urgent, the whole run waits.",
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
