import { type Detector, type Finding, named, of, placeOf } from "./finding";

/**
 * Reached a limit instead of finishing: an agent out of turns, a loop out of iterations, a crew that continued after it
 * was done.
 */
export const endNotNoticed: Detector = ({ events, activations, state }) => {
  const found: Finding[] = [];
  for (const event of of(events, "agent_finished"))
    if (event.payload.error?.code === "MAX_ITERATIONS")
      found.push({
        kind: "end_not_noticed",
        ...placeOf(event),
        said: `${named(event.agent_id)} used all its turns without an answer.`,
        advice:
          "Say in the task what the answer must contain and when it is good enough, or raise Max turns.",
      });
  for (const event of of(events, "loop_finished"))
    found.push({
      kind: "end_not_noticed",
      ...placeOf(event),
      said: `The loop at ${state.graph.nodes[event.node_id ?? ""]?.name || event.node_id} stopped at its limit of ${event.payload.iterations} iterations, not because it was done.`,
      advice: "Check the loop's exit condition: was it ever met, and did the deciding node know?",
    });
  for (const own of activations.values()) {
    const done = of(own, "ledger_updated").find(({ payload }) => payload.ledger.is_request_satisfied?.answer);
    const after = done && of(own, "post_sent").filter(({ seq }) => seq > done.seq);
    const more = after?.filter(
      ({ payload }) => payload.kind === "post" && payload.to.toLowerCase() !== "user",
    );
    const first = more?.[0];
    if (first && (more?.length ?? 0) > 1)
      found.push({
        kind: "end_not_noticed",
        ...placeOf(first),
        said: `${named(first.payload.from)} noted that the request was satisfied, but assigned more work.`,
        advice: "Tell the manager to answer as soon as the request is satisfied.",
      });
  }
  return found;
};
