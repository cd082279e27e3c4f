import { isSameJson } from "@/server/domain/base/json";
import type { OwnRule } from "@/server/domain/tool/own-rule";
import { isRouterNode, type WorkflowNode } from "../nodes";

/** A rule that a workflow brings along, and the router that says it. */
export interface WrittenRule {
  name: string;
  rule: OwnRule;
  node_id: string;
}

/** All router functions in a workflow, in graph order. */
export const writtenRules = (graph: { nodes: Readonly<Record<string, WorkflowNode>> }): WrittenRule[] =>
  Object.values(graph.nodes).flatMap((node) => {
    if (!isRouterNode(node) || node.config.kind !== "function") return [];
    const { router_function_name: name, router_function: rule } = node.config;
    return name && rule ? [{ name, rule, node_id: node.id }] : [];
  });

/** A router function of the same name with a different definition; undefined if there is none. */
export const contradicting = (rules: readonly WrittenRule[], one: WrittenRule): WrittenRule | undefined =>
  rules.find(({ name, rule }) => name === one.name && !isSameJson(rule, one.rule));
