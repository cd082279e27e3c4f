import { isSameJson } from "@/server/domain/base/json";
import type { JsonObject } from "@/server/domain/base/values";
import { findNodeKind } from "@/server/domain/nodes";
import { REPEATED } from "@/server/domain/nodes/end";
import { plainText } from "@/server/domain/text/plain-text";
import type { RunState } from "./state";

/** What a run returns, split into the result that people wait for and values that are only passed along. */
export interface RunResult {
  /** What the ends that were reached name; where they name nothing, what was written last on the way to them. */
  main: JsonObject;
  /** The rest of the output. */
  rest: JsonObject;
}

/** The result of a run that has ended. Each value of its output is in one of both parts, repetitions once. */
export function resultOf(s: RunState): RunResult {
  const output = withoutRepeated(s.run.output ?? {});
  const named = new Set<string>();
  for (const { node_id, status, output: given } of Object.values(s.activations)) {
    const node = s.graph.nodes[node_id];
    const end = node && findNodeKind(node.node_type)?.ends?.(node.config, node);
    if (status !== "completed" || !end) continue;
    for (const key of end.givesAll ? lastWritten(s, node_id, output) : Object.keys(given ?? {}))
      named.add(key);
  }
  const entries = Object.entries(output);
  const main = entries.filter(([key]) => named.has(key));
  if (main.length === 0) return { main: output, rest: {} };
  return {
    main: Object.fromEntries(main),
    rest: Object.fromEntries(entries.filter(([key]) => !named.has(key))),
  };
}

/** Without what ends left in the state under a second name. */
const withoutRepeated = (output: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(output).filter(
      ([key, value]) =>
        !(key.startsWith(REPEATED) && isSameJson(output[key.slice(REPEATED.length)] ?? null, value)),
    ),
  );

/** The keys whose values the nearest nodes before this one wrote, along the edges that were taken. */
function lastWritten(s: RunState, nodeId: string, output: JsonObject): string[] {
  const writerOf = (key: string) => s.writer[key]?.split("#")[0];
  const seen = new Set([nodeId]);
  let near = [nodeId];
  while (near.length > 0) {
    const before = s.graph.edges
      .filter(({ id, target_node_id }) => near.includes(target_node_id) && (s.edges[id]?.count ?? 0) > 0)
      .map(({ source_node_id }) => source_node_id)
      .filter((id) => !seen.has(id));
    const written = Object.keys(output).filter((key) => before.includes(writerOf(key) ?? ""));
    if (written.length > 0) return written;
    for (const id of before) seen.add(id);
    near = [...new Set(before)];
  }
  return [];
}

/** The node at which a run failed, or null. */
export function failedNode(s: RunState): string | null {
  if (s.run.final_status !== "ERROR") return null;
  const named = s.run.error?.node_id;
  if (named !== undefined && s.graph.nodes[named]) return named;
  const failed = Object.values(s.activations)
    .filter(({ status }) => status === "failed")
    .sort((a, b) => b.order - a.order);
  return failed[0]?.node_id ?? null;
}

/** How much of a run's input and outcome its row keeps, to be searched and shown in lists, in UTF-16 units. */
export const RUN_TEXT = { kept: 4000, shown: 200 } as const;

/** Values as plain words in one line. */
export const valuesText = (values: JsonObject): string =>
  Object.values(values)
    .map((value) => plainText(value))
    .filter(Boolean)
    .join(" · ")
    .slice(0, RUN_TEXT.kept);

/** A run's outcome as text: its result, or why there is none. */
export const outcomeText = (s: RunState): string =>
  s.run.status !== "finished"
    ? ""
    : s.run.final_status !== "COMPLETED" && s.run.error
      ? s.run.error.message.slice(0, RUN_TEXT.kept)
      : valuesText(resultOf(s).main);
