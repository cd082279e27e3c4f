import { isObject } from "@/server/domain/base/guards";
import { getNodeKind, type NodeType, type WorkflowNode } from ".";
import type { NodeBase } from "./define";

/** What a node says where nobody has said otherwise, whatever its kind. */
const standard = () => ({
  name: "",
  input_keys: [],
  optional_input_keys: [],
  output_keys: [],
  join: "all" as const,
  retry: {
    max_attempts: 1,
    initial_delay_ms: 1000,
    backoff_factor: 2,
    max_delay_ms: 60_000,
    jitter: 0.25,
    retry_on: ["TIMEOUT", "RATE_LIMIT", "TRANSIENT", "OUTPUT_INVALID"],
  },
  on_error: "fail_run" as const,
});

/** The settings of a newly placed node of a kind. */
export function newConfigOf(type: NodeType): Record<string, unknown> {
  const made: unknown = getNodeKind(type).newConfig();
  return isObject(made) ? made : {};
}

/**
 * A node as it is first placed. `more`: what it has in common with all nodes; `config`: some of its settings. Both are
 * taken as they are: what comes from outside is read by the schema of nodes first.
 */
export function newNode(
  type: NodeType,
  { config, ...more }: Partial<NodeBase> & { id: string; config?: Record<string, unknown> | undefined },
): WorkflowNode {
  const kind = getNodeKind(type);
  // The settings are those of the kind that `type` names; of a type that is one of many the compiler cannot tell that.
  return {
    ...standard(),
    ...kind.newNode?.(),
    ...more,
    node_type: type,
    config: { ...newConfigOf(type), ...config },
  } as WorkflowNode;
}
