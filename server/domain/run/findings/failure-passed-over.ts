import { brief, type Detector, of, placeOf } from "./finding";

/** A node failed, the run continued without its output and ended as completed. */
export const failurePassedOver: Detector = ({ events, state }) =>
  state.run.final_status !== "COMPLETED"
    ? []
    : of(events, "node_failed").flatMap((event) =>
        event.payload.next === "continue" || event.payload.next === "skip_branch"
          ? [
              {
                kind: "failure_passed_over" as const,
                ...placeOf(event),
                said: `${state.graph.nodes[event.node_id ?? ""]?.name || event.node_id} failed, and the run completed without it: ${brief(event.payload.error.message, 160)}`,
                advice: "Connect its error output to a step that handles the failure, or let the run fail.",
              },
            ]
          : [],
      );
