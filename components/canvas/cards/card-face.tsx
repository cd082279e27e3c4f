import { RoleFace } from "@/components/display/role-face";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, isAgentNode, isCrewNode } from "@/server/domain/nodes";
import { type NamedAgents, useCanvas } from "../canvas-context";
import { KindIcon } from "./kind-icon";

/** Who does a task: an agent of the library by name, with its own role, or else the role. */
export function doerOf(node: WorkflowNode, agents: NamedAgents): { role: string; name?: string | undefined } {
  if (!isAgentNode(node)) return { role: "" };
  const { agent_ref, agent: copy, required_role } = node.config;
  if (!agent_ref) return { role: required_role };
  const found = agents.get(agent_ref);
  // In a run, the copy is what does it, whatever became of the agent since.
  return { role: (copy ?? found?.agent)?.role_name ?? "", name: found?.name };
}

/** How many faces of a crew its card shows. */
const FACES = 4;

/** Whose card it is: the face of the role, the faces of the crew, or the sign of the kind. */
export function NodeFace({ node, size = 40 }: { node: WorkflowNode; size?: number }) {
  const { roles, agents } = useCanvas();
  const { role } = doerOf(node, agents);
  if (role)
    return <RoleFace name={role} icon={roles.get(role)?.icon} color={roles.get(role)?.color} size={size} />;
  const members = isCrewNode(node) ? (node.config.crew?.agents ?? []) : [];
  if (members.length > 1)
    return (
      <span className="node-crew" style={{ width: size, height: size }}>
        {members.slice(0, FACES).map(({ agent_id, role_name }) => (
          <RoleFace
            key={agent_id}
            name={role_name}
            icon={roles.get(role_name)?.icon}
            color={roles.get(role_name)?.color}
            size={(size - 2) / 2}
          />
        ))}
      </span>
    );
  return (
    <span className="node-icon" style={{ width: size, height: size }}>
      <KindIcon name={getNodeKind(node.node_type).icon} size={size / 2} />
    </span>
  );
}
