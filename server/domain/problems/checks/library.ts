import { isAgentNode, isCrewNode } from "@/server/domain/nodes";
import type { Check } from "../check";
import { nameOf } from "../names";

/** Crews and agents that a node names must be in the library, unless a copy came with it. */
export function checkLibrary({ graph, report, here: { library } }: Check): void {
  if (!library) return;
  for (const node of Object.values(graph.nodes)) {
    if (isAgentNode(node) && !node.config.agent) {
      const { agent_ref } = node.config;
      if (agent_ref && !library.agent(agent_ref))
        report.error(
          "E_AGENT_UNKNOWN",
          { kind: "node", id: node.id, field: "agent_ref" },
          `${nameOf(node)} asks for the agent "${agent_ref}", who is not in the library. Choose another agent, or only a role.`,
        );
    }
    if (!isCrewNode(node) || node.config.crew) continue;
    const id = node.config.crew_id_or_config_ref;
    if (id && !library.crew(id))
      report.error(
        "E_CREW_UNKNOWN",
        { kind: "node", id: node.id, field: "crew" },
        `${nameOf(node)} asks for the crew "${id}", which is not in the library. Choose another crew, or give it one of its own.`,
      );
  }
}
