import { defined } from "@/server/domain/base/defined";
import { ToolFailure, type ToolScope } from "../define";

/** The run that calls. Throws ToolFailure(400) where a person tries the tool out. */
export function runOf(scope: ToolScope, tool: string) {
  if (!scope.run) throw new ToolFailure(400, `${tool} only works inside a run.`);
  return scope.run;
}

/** Who is writing something that outlives the call. */
export function sourceOf(scope: ToolScope, tool_name: string) {
  const { agent_id, role_name, node_id, task_id } = scope.agent ?? {};
  return {
    tool_name,
    ...defined({ agent_id, role_name, node_id, task_id }),
  };
}
