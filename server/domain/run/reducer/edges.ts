import { newRecord } from "@/server/domain/base/json";
import { must } from "@/server/domain/base/must";
import type { EdgeEvents } from "../events";
import type { RunState } from "../state";
import type { Handlers } from "./handlers";
import { takeTokens } from "./tokens";

export const edges: Handlers<keyof EdgeEvents> = {
  edge_taken(s, event) {
    const { edge_id, back } = event.payload;
    const target = must(event, "node_id");
    const box = back ? s.backbox : s.inbox;
    box[target] ??= newRecord();
    const tokens = box[target];
    (tokens[edge_id] ??= []).push(event.activation_id ?? "");
    s.parked.add(target);
    s.edges[edge_id] = { status: "taken", count: (s.edges[edge_id]?.count ?? 0) + 1 };
  },
  edge_skipped(s, { payload: { edge_id } }) {
    const before = s.edges[edge_id];
    s.edges[edge_id] = {
      status: before?.status === "taken" ? "taken" : "skipped",
      count: before?.count ?? 0,
    };
  },
  token_absorbed(s, event) {
    takeTokens(s, s.inbox, must(event, "node_id"), event.payload.consumes);
  },
  join_rearmed(s, event) {
    s.fired.delete(must(event, "node_id"));
  },
  join_shortfall(s, event) {
    const { action, got, need, consumes } = event.payload;
    takeTokens(s, s.inbox, must(event, "node_id"), consumes);
    if (action === "error")
      failAt(s, must(event, "node_id"), {
        code: "JOIN_SHORTFALL",
        message: `Only ${got} of the ${need} branches that this node waits for arrived.`,
      });
  },
  loop_started(s, event) {
    s.loops[must(event, "node_id")] = { iteration: 1, max: event.payload.max };
  },
  loop_iteration(s, event) {
    s.loops[must(event, "node_id")] = {
      iteration: event.payload.iteration,
      max: event.payload.max,
    };
  },
  loop_finished(s, event) {
    const { consumes, exit_edge, iterations } = event.payload;
    takeTokens(s, s.backbox, must(event, "node_id"), consumes);
    if (!exit_edge)
      failAt(s, must(event, "node_id"), {
        code: "LOOP_LIMIT",
        message: `The loop reached its limit of ${iterations} iterations and has no other exit.`,
      });
  },
};

/** An error of the workflow ends the run; the first failure is kept. */
function failAt(
  s: RunState,
  node_id: string,
  error: { code: "JOIN_SHORTFALL" | "LOOP_LIMIT"; message: string },
): void {
  s.failing ??= { ...error, retryable: false, user_action: "edit_graph", node_id };
}
