import type { AnyNodeKind, WorkflowNode } from "@/server/domain/nodes";
import { findRouterFunction } from "@/server/domain/tool/router-functions";

/** The registered rule that a node's settings name, in whatever field a kind keeps it. */
export function ruleOf(node: WorkflowNode, kind: AnyNodeKind) {
  const config: Record<string, unknown> = node.config;
  const field = kind.fields.find(
    ({ as, showIf }) => as === "router_function" && (!showIf || showIf(node.config)),
  );
  const name = field ? config[field.key] : undefined;
  return typeof name === "string" ? findRouterFunction(name) : undefined;
}
