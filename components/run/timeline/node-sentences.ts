import { countOf, ordinal } from "@/components/display/format";
import type { RunEventOf } from "@/server/domain/run/events";
import { after, closed, detail, keys, type SentencesOf, story } from "./sentence-parts";

const NEXT_LABELS: Record<RunEventOf<"node_failed">["payload"]["next"], string> = {
  retry: "It will be tried again.",
  error_edge: "The run goes on along its error edge.",
  continue: "The run goes on with its default output.",
  skip_branch: "The branch behind it is skipped.",
  fail_run: "The run ends here.",
};

/** What happens to nodes and along edges, in sentences. */
export const nodeSentences = {
  node_ready: ({ node_id, payload }, names) =>
    detail(
      payload.iteration && payload.iteration > 1
        ? `${names.node(node_id)} is queued for its ${ordinal(payload.iteration)} round`
        : `${names.node(node_id)} is queued`,
      "ready",
    ),
  // The heading of the node already reports a first attempt and an end without text.
  node_started: ({ node_id, payload }, names) =>
    payload.attempt > 1
      ? story(`${names.node(node_id)} began its ${ordinal(payload.attempt)} attempt`, "running")
      : detail(`${names.node(node_id)} began`, "running"),
  node_waiting: ({ node_id, payload }, names) => {
    const what = {
      timer: "for its time to come",
      signal: "for a signal",
      human: "for a person",
      limit: "at a limit that can be raised",
    };
    return story(`${names.node(node_id)} waits ${what[payload.for]}`, "waiting");
  },
  node_completed: ({ node_id, payload }, names) =>
    payload.pinned
      ? story(`${names.node(node_id)} gave its pinned output; it was not carried out`, "completed")
      : payload.written_keys.length > 0
        ? story(`${names.node(node_id)} is done and wrote ${keys(payload.written_keys)}`, "completed")
        : detail(`${names.node(node_id)} is done`, "completed"),
  node_failed: ({ node_id, payload }, names) =>
    story(
      `${names.node(node_id)} failed: ${closed(payload.error.message)} ${NEXT_LABELS[payload.next]}`,
      "failed",
    ),
  node_retry_scheduled: ({ node_id, payload }, names) =>
    story(
      `${names.node(node_id)} will be tried a ${ordinal(payload.attempt)} time${after(payload.delay_ms)}`,
      "waiting",
    ),
  node_skipped: ({ node_id, payload }, names) => {
    const why = {
      unreachable: "another branch was taken",
      condition: "its condition is not true",
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
    detail(`A late branch arrived at ${names.node(node_id)} and was not needed`),
  join_rearmed: ({ node_id }, names) => detail(`${names.node(node_id)} is open for its branches again`),
  join_shortfall: ({ node_id, payload }, names) => {
    const then = { skip: "it is skipped", error: "that is an error", fire: "it runs anyway" };
    return story(
      `Only ${payload.got} of ${countOf(payload.need, "branch", "branches")} reached ${names.node(node_id)}; ${then[payload.action]}`,
      "warning",
    );
  },
  loop_started: ({ node_id, payload }, names) =>
    detail(`A loop begins at ${names.node(node_id)}, ${countOf(payload.max, "round")} at most`),
  loop_iteration: ({ node_id, payload }, names) =>
    story(`Round ${payload.iteration} of at most ${payload.max} at ${names.node(node_id)}`, "running"),
  loop_finished: ({ node_id, payload }, names) =>
    story(
      `The loop at ${names.node(node_id)} reached its limit of ${countOf(payload.iterations, "round")}${
        payload.exit_edge ? ` and leaves by ${names.edge(payload.exit_edge)}` : ""
      }`,
      "warning",
    ),
  router_decided: ({ node_id, payload }, names) =>
    story(
      payload.labels.length > 0
        ? `${names.node(node_id)} ${payload.kind === "value" ? "read the value" : "chose"} ${keys(payload.labels)}${payload.reason ? `: ${payload.reason}` : ""}`
        : `${names.node(node_id)} found no way to go on`,
      payload.labels.length > 0 ? "completed" : "warning",
    ),
  timer_fired: () => detail("The timer rang"),
} satisfies SentencesOf;
