import { defined } from "@/server/domain/base/defined";
import { must } from "@/server/domain/base/must";
import { sizeOf, sizeText } from "@/server/domain/base/sizes";
import type { JsonObject } from "@/server/domain/base/values";
import type { Analysis } from "@/server/domain/graph/analysis";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { stateProperties } from "@/server/domain/graph/keys/state-properties";
import { findInvalid } from "@/server/domain/graph/state-check";
import { getNodeKind, settingsOf } from "@/server/domain/nodes";
import { errorTexts, readSchema } from "@/server/domain/schema/schema";
import { complete } from "../schedule/outcomes";
import type { Activation, RunState } from "../state";

// Why a person's command does not fit a run as it stands, each in a sentence; null where it fits.

export function stateEditError(
  s: RunState,
  { set, remove }: { set: JsonObject; remove: readonly string[] },
): string | null {
  if (!s.run.paused_at) return "Pause the run before editing its state, so that nothing else writes it.";
  if (Object.keys(set).length + remove.length === 0) return "Name the keys to set or remove.";
  const missing = remove.find((key) => s.state[key] === undefined);
  if (missing !== undefined) return `The state has no "${missing}" to remove.`;
  for (const [key, value] of Object.entries(set)) {
    const errors = findInvalid(s.graph, key, value, "last");
    if (errors.length > 0) return `"${key}" violates its schema: ${errors.join("; ")}`;
  }
  const most = s.run.config.max_state_chars;
  const size = sizeOf({ ...s.state, ...set });
  return size > most ? `The state would have ${sizeText(size)}; the maximum is ${sizeText(most)}.` : null;
}

const nodeOf = (s: RunState, { node_id }: Activation): WorkflowNode => must(s.graph.nodes, node_id);

const nameOf = (node: WorkflowNode) => node.name || node.id;

/** Whether an activation has yet to end. */
const isActive = (s: RunState, id: string) => s.ready.includes(id) || s.running.has(id);

export function skipError(
  a: Analysis,
  s: RunState,
  {
    activation_id,
    output,
    labels,
  }: { activation_id: string; output: JsonObject; labels?: string[] | undefined },
): string | null {
  const activation = s.activations[activation_id];
  if (!activation) return `This run has no ${activation_id}.`;
  const node = nodeOf(s, activation);
  if (!isActive(s, activation_id)) return `${nameOf(node)} is no longer active (${activation.status}).`;
  const kind = getNodeKind(node.node_type);
  if (kind.ends) return `${nameOf(node)} is an end node and can't be skipped: it returns the run's output.`;
  const errors = outputErrors(s, node, output);
  if (errors.length > 0) return `The output of ${nameOf(node)} is invalid: ${errors.join("; ")}`;
  // What would follow, without doing it.
  const failed = complete(a, s, activation_id, { output, ...defined({ labels }) }).find(
    (event) => event.type === "node_failed",
  );
  return failed?.type === "node_failed" ? failed.payload.error.message : null;
}

/** What is wrong with an output that a person gives a node. */
function outputErrors(s: RunState, node: WorkflowNode, output: JsonObject): string[] {
  const known = Object.keys(stateProperties(s.graph));
  const ofState = known.flatMap((key) =>
    output[key] === undefined
      ? []
      : findInvalid(s.graph, key, output[key], "last").map((error) => `${key}: ${error}`),
  );
  const missing = node.output_keys
    .filter((key) => output[key] === undefined)
    .map((key) => `"${key}" is missing`);
  const { output_schema: schema } = settingsOf(node);
  const ofSchema = schema ? errorTexts(readSchema(schema).errors(output)) : [];
  return [...missing, ...ofState, ...ofSchema].slice(0, 5);
}

export function retryError(s: RunState, { activation_id }: { activation_id: string }): string | null {
  const activation = s.activations[activation_id];
  if (!activation) return `This run has no ${activation_id}.`;
  const name = nameOf(nodeOf(s, activation));
  if (s.run.status === "finished" && !canGoOn(s))
    return s.run.final_status === "ERROR"
      ? "This run ended for a reason that retrying a node can't resolve. Fork it from an earlier point."
      : "This run has ended.";
  if (activation.ends_run || activation.waiting?.for === "retry") return null;
  return activation.status === "failed"
    ? `${name} failed, so the run took another path. To retry it, fork the run before ${name}.`
    : `${name} has not failed (${activation.status}).`;
}

/** Whether a run that failed can go on: it ended because a node did, and nothing else. */
export const canGoOn = ({ run, failing }: RunState): boolean =>
  run.final_status === "ERROR" &&
  failing?.activation_id !== undefined &&
  run.error?.activation_id === failing.activation_id;
