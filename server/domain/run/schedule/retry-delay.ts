import type { WorkflowNode } from "@/server/domain/graph/graph";

/** Exponential back-off with a jitter that depends on the activation alone, so that a replay finds the same. */
export function retryDelay(node: WorkflowNode, activationId: string, attempt: number): number {
  const { initial_delay_ms, backoff_factor, max_delay_ms, jitter } = node.retry;
  const base = Math.min(max_delay_ms, initial_delay_ms * backoff_factor ** (attempt - 1));
  return Math.round(base * (1 + jitter * (2 * fraction(`${activationId}/${attempt}`) - 1)));
}

/** A number in [0, 1) that a text always gives. */
export function fraction(text: string): number {
  let hash = 2166136261;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
  return (hash >>> 0) / 4294967296;
}
