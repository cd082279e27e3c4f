import type { Flow } from "@/server/domain/base/durable";
import type { Json, JsonObject } from "@/server/domain/base/values";
import { evaluateCondition, evaluateExpression } from "@/server/domain/text/expression/expression";
import { renderTemplate } from "@/server/domain/text/template/template";
import type { OwnRule } from "@/server/domain/tool/own-rule";
import { getNodeKind, NodeFailure, type NodeType, type WorkflowNode } from "..";
import type { NodeContext } from "../define";
import { WorkflowNode as NodeSchema } from "../schemas";

/** A node as a file says it, with all that has a standard. */
export const nodeOf = (node_type: NodeType, config: object = {}, node: object = {}): WorkflowNode =>
  NodeSchema.parse({ id: "it", node_type, config, ...node });

/** What surrounds a node that is carried out. `answer`: what the world says to whatever the node asks. */
export interface World {
  answer?: unknown;
  state?: JsonObject;
  input?: JsonObject;
  exits?: Partial<NodeContext["exits"][number]>[];
  rules?: Record<string, OwnRule>;
  node?: object;
}

/**
 * Carries out a node of a kind, without a run: what it asked of the world in turn, each with its name, and what it gave or
 * why it failed. Expressions and templates are evaluated as in a run.
 */
export function executeNode(type: NodeType, config: object, world: World = {}) {
  const node = nodeOf(type, config, world.node);
  const asked: unknown[] = [];
  function* ask(...request: unknown[]): Flow<never> {
    asked.push(request);
    return world.answer as never;
  }
  const { state = {}, input = {} } = world;
  const scope = { state, input };
  const ctx = {
    node,
    state,
    input,
    exits: (world.exits ?? []).map((exit) => ({ label: null, description: "", ...exit })),
    evaluate: (text: string) => evaluateExpression(text, scope),
    holds: (text: string) => evaluateCondition(text, scope),
    render: (text: string) => renderTemplate(text, scope),
    ownRule: (name: string) => world.rules?.[name],
    agent: (request: unknown) => ask("agent", request),
    crew: (request: unknown) => ask("crew", request),
    choose: (request: unknown) => ask("choose", request),
    tool: (name: string, args: Json) => ask("tool", name, args),
    code: (source: string, value: Json) => ask("code", source, value),
    askPerson: (key: string, question: unknown) => ask("person", key, question),
    sleep: (key: string, ms: number) => ask("sleep", key, ms),
    signal: (name: string, timeout_ms?: number) => ask("signal", name, timeout_ms),
  } as unknown as NodeContext;
  try {
    return { asked, gave: getNodeKind(type).run?.(node.config, ctx).next().value };
  } catch (error) {
    if (error instanceof NodeFailure) return { asked, failed: error.toRunError() };
    throw error;
  }
}

/** What a node says on its card. */
export const summaryOf = (type: NodeType, config: object, node: object = {}): string => {
  const read = nodeOf(type, config, node);
  return getNodeKind(type).summary(read.config, read);
};

/** The fields of a kind's form that are shown with these settings. */
export const shownFields = (type: NodeType, config: object): string[] =>
  getNodeKind(type)
    .fields.filter(({ showIf }) => showIf?.(config) ?? true)
    .map(({ key }) => key);
