import type { RunError } from "@/server/domain/agent/outcome";
import { errorMessage } from "@/server/domain/base/guards";
import { cutText } from "@/server/domain/base/sizes";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, NodeFailure } from "@/server/domain/nodes";
import { StepFailed } from "../node/flow";
import { asError, internalError, recordedError } from "../node/internal-error";

/** An error of a node's behaviour as data for people. */
export function toRunError(error: unknown, node: WorkflowNode): RunError {
  if (error instanceof NodeFailure) return error.toRunError();
  if (error instanceof StepFailed) {
    const recorded = recordedError(error.error);
    if (recorded) return recorded;
    if (error.error.name === "OversizedAnswer")
      return { code: "TOO_LARGE", message: error.message, retryable: false, user_action: "edit_graph" };
    if (error.error.name === "TimeoutError")
      return { code: "TIMEOUT", message: error.message, retryable: true, user_action: "retry" };
    return internalError(error.error, `${node.name || node.id} failed`);
  }
  const name = error instanceof Error ? error.name : "";
  if (name !== "ExpressionError" && name !== "TemplateError")
    return internalError(asError(error), `${node.name || node.id} failed`);
  const routes = getNodeKind(node.node_type).routes;
  return {
    code: routes ? "ROUTER_FAILED" : "CONFIG",
    message: `${node.name || node.id}${routes ? " could not decide" : ""}: ${cutText(errorMessage(error))}`,
    retryable: false,
    user_action: "edit_graph",
  };
}
