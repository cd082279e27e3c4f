import { countOf, ordinal } from "@/components/display/format";
import type { RunEventOf } from "@/server/domain/run/events";
import { after, closed, detail, keys, type SentencesOf, story } from "./sentence-parts";

const NEXT_LABELS: Record<RunEventOf<"node_failed">["payload"]["next"], string> = {
  retry: "Will retry.",
  error_edge: "Continued on the error path.",
  continue: "Continued with the default output.",
  skip_branch: "Skipped the rest of the branch.",
  fail_run: "The run ends here.",
};

const ENDED = {
  ERROR: "failed",
  INCOMPLETE: "stopped at a limit",
  CANCELLED: "was cancelled",
};

/** What happens to nodes and along edges, in sentences. */
export const nodeSentences = {
  node_ready: ({ node_id, payload }, names) =>
    detail(
      payload.iteration && payload.iteration > 1
        ? `${names.node(node_id)} is queued for its ${ordinal(payload.iteration)} iteration`
        : `${names.node(node_id)} is queued`,
      "ready",
    ),
  // The heading of the node already reports a first attempt and an end without text.
  node_started: ({ node_id, payload }, names) =>
    payload.attempt > 1
      ? story(`${names.node(node_id)} started its ${ordinal(payload.attempt)} attempt`, "running")
      : detail(`${names.node(node_id)} started`, "running"),
  node_waiting: ({ node_id, payload }, names) => {
    const what = {
      timer: "for a timer",
      signal: "for a signal",
      human: "for a person",
      limit: "at a limit that can be raised",
      run: "for another run",
    };
    return story(`${names.node(node_id)} is waiting ${what[payload.for]}`, "waiting");
  },
  node_completed: ({ node_id, payload }, names) =>
    payload.pinned
      ? story(`${names.node(node_id)} returned its pinned output without running`, "completed")
      : payload.written_keys.length > 0
        ? story(`${names.node(node_id)} finished and wrote ${keys(payload.written_keys)}`, "completed")
        : detail(`${names.node(node_id)} finished`, "completed"),
  node_failed: ({ node_id, payload }, names) =>
    story(
      `${names.node(node_id)} failed: ${closed(payload.error.message)} ${NEXT_LABELS[payload.next]}`,
      "failed",
    ),
  node_retry_scheduled: ({ node_id, payload }, names) =>
    story(
      `${names.node(node_id)} will start its ${ordinal(payload.attempt)} attempt${after(payload.delay_ms)}`,
      "waiting",
    ),
  node_skipped: ({ node_id, payload }, names) => {
    const why = {
      unreachable: "another branch was taken",
      condition: "its condition was false",
      join_shortfall: "too few branches reached it",
    };
    return story(`${names.node(node_id)} was skipped: ${why[payload.reason]}`, "skipped");
  },
  node_cancelled: ({ node_id, payload }, names) =>
    story(`${names.node(node_id)} was cancelled${payload.reason ? `: ${payload.reason}` : ""}`, "cancelled"),

  edge_taken: ({ payload }, names) =>
    detail(
      `${names.edge(payload.edge_id)} was taken${payload.label ? ` (${payload.label})` : ""}`,
      "completed",
    ),
  edge_skipped: ({ payload }, names) => detail(`${names.edge(payload.edge_id)} was not taken`, "skipped"),
  token_absorbed: ({ node_id }, names) =>
    detail(`A late branch reached ${names.node(node_id)} and was ignored`),
  join_rearmed: ({ node_id }, names) => detail(`${names.node(node_id)} is waiting for its branches again`),
  join_shortfall: ({ node_id, payload }, names) => {
    const then = { skip: "it was skipped", error: "it failed", fire: "it ran anyway" };
    return story(
      `Only ${payload.got} of ${countOf(payload.need, "branch", "branches")} reached ${names.node(node_id)}; ${then[payload.action]}`,
      "warning",
    );
  },
  loop_started: ({ node_id, payload }, names) =>
    detail(`Loop started at ${names.node(node_id)}, max ${countOf(payload.max, "iteration")}`),
  loop_iteration: ({ node_id, payload }, names) =>
    story(`Iteration ${payload.iteration} (max ${payload.max}) at ${names.node(node_id)}`, "running"),
  loop_finished: ({ node_id, payload }, names) =>
    story(
      `The loop at ${names.node(node_id)} reached its limit of ${countOf(payload.iterations, "iteration")}${
        payload.exit_edge ? ` and exited through ${names.edge(payload.exit_edge)}` : ""
      }`,
      "warning",
    ),
  router_decided: ({ node_id, payload }, names) =>
    story(
      payload.labels.length > 0
        ? `${names.node(node_id)} ${payload.kind === "value" ? "read the value" : "chose"} ${keys(payload.labels)}${payload.reason ? `: ${payload.reason}` : ""}`
        : `${names.node(node_id)} matched no route`,
      payload.labels.length > 0 ? "completed" : "warning",
    ),
  timer_fired: () => detail("Timer fired"),

  map_started: ({ node_id, payload: { total } }, names) =>
    story(`${names.node(node_id)} runs for ${countOf(total, "item")}`, "running"),
  map_progressed: ({ payload: { done, failed } }) =>
    detail(
      `${countOf(done + failed, "item")} computed${failed > 0 ? `, ${failed.toLocaleString("en-US")} failed` : ""}`,
      failed > 0 ? "warning" : "completed",
    ),
  // A map may start thousands.
  child_started: ({ payload: { workflow_name, item } }) =>
    item === undefined
      ? story(`Started run of “${workflow_name}”`, "running")
      : detail(`Started run of “${workflow_name}” for item ${item + 1}`, "running"),
  child_finished: ({ payload: { item, final_status, error, reused } }) => {
    const what = item === undefined ? "The run" : `Item ${item + 1}`;
    if (final_status !== "COMPLETED")
      return story(`${what} ${ENDED[final_status]}${error ? `: ${error.message}` : ""}`, "failed");
    const text = `${what} completed${reused ? ", with the recorded result" : ""}`;
    return item === undefined ? story(text, "completed") : detail(text, "completed");
  },
} satisfies SentencesOf;
