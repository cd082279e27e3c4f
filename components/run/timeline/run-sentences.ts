import { countOf, formatDuration, formatList, formatTokens } from "@/components/display/format";
import { formatDollars } from "@/server/domain/model/cost";
import { describePausedPlace, describeTarget } from "@/server/domain/run/commands/control-labels";
import type { RunEventOf } from "@/server/domain/run/events";
import { isTaintedBy } from "@/server/domain/run/started-by";
import { startText } from "../started-by";
import {
  detail,
  keys,
  LIMIT_LABELS,
  limitValue,
  type Sentence,
  type SentencesOf,
  story,
} from "./sentence-parts";

const used = (metric: "cost_usd" | "total_tokens", value: number) =>
  metric === "cost_usd" ? formatDollars(value) : `${formatTokens(value)} tokens`;

const FINAL_STATUS_SENTENCES: Record<RunEventOf<"run_finished">["payload"]["final_status"], Sentence> = {
  COMPLETED: story("Run completed", "completed"),
  ERROR: story("Run failed", "failed"),
  INCOMPLETE: story("Run stopped at a limit", "waiting"),
  CANCELLED: story("Run cancelled", "cancelled"),
};

/** What happens to a run as a whole, in sentences. */
export const runSentences = {
  run_created: ({ payload }) => {
    const model = payload.provider_summary
      ? `, using ${payload.provider_summary.name}${payload.provider_summary.simulated ? " (simulated)" : ""}`
      : "";
    const { workflow_name, trigger, origin, input } = payload;
    const isUntrusted = isTaintedBy(origin, input);
    return story(
      `Run of ${workflow_name || "a workflow"} created ${startText(trigger, origin)}${model}${
        isUntrusted ? "; its input is untrusted, so sending data out needs approval" : ""
      }`,
      isUntrusted ? "warning" : undefined,
    );
  },
  run_started: () => story("Run started", "running"),
  run_cancel_requested: ({ payload }) =>
    story(`Cancellation requested${payload.reason ? `: ${payload.reason}` : ""}`, "cancelled"),
  run_recovered: ({ payload }) =>
    story(
      payload.requeued.length > 0
        ? `Server restarted; ${countOf(payload.requeued.length, "step")} resumed`
        : "Server restarted; run resumed",
      "running",
    ),
  clock_jumped: ({ payload }) =>
    detail(
      payload.ms > 0
        ? `The machine slept, or its clock was set forward; ${formatDuration(payload.ms)} excluded from running time`
        : "The machine's clock was set back; running time isn't affected",
    ),
  run_limit_raised: ({ payload }) =>
    story(
      `Limit for ${LIMIT_LABELS[payload.limit]} raised ${
        payload.from === null ? "" : `from ${limitValue(payload.limit, payload.from)} `
      }to ${limitValue(payload.limit, payload.to)}`,
    ),
  run_resumed: () => story("Run resumed", "running"),
  run_paused: ({ payload: { reason, at, by, now } }, names) => {
    const place = at.point === "anywhere" ? "" : ` ${describePausedPlace(at, names.node)}`;
    const why = {
      person: ` by ${by}`,
      step: " (stepping)",
      breakpoint: " at a breakpoint",
      question: " to wait for an answer",
    };
    const given = now ? "; model calls in progress were cancelled and will be retried" : "";
    return story(`Run paused${place}${why[reason]}${given}`, "waiting");
  },
  run_continued: ({ payload: { as, granularity } }) =>
    as === "resume"
      ? story("Run resumed", "running")
      : detail(`Run stepped to the next ${granularity === "turn" ? "turn" : "node"}`, "running"),
  state_edited: ({ payload: { set, remove, by } }) => {
    const changes = [
      ...(Object.keys(set).length > 0 ? [`set ${keys(Object.keys(set))}`] : []),
      ...(remove.length > 0 ? [`removed ${keys(remove)}`] : []),
    ];
    return story(`${by} ${changes.join(" and ")} in the state`);
  },
  next_overridden: ({ node_id, payload: { to, agent_id, by } }, names) =>
    story(
      to === undefined
        ? `${by} chose ${agent_id ?? "another agent"} to continue in ${names.node(node_id)}`
        : `${by} sent the run from ${names.node(node_id)} to ${names.node(to)}`,
    ),
  member_changed: ({ node_id, payload: { agent_id, action, agent, by } }, names) =>
    story(
      {
        added: `${by} added ${agent_id} (${agent?.role_name ?? ""}) to the crew of ${names.node(node_id)}`,
        removed: `${by} removed ${agent_id} from the crew of ${names.node(node_id)}`,
        changed: `${by} changed ${agent_id} in the crew of ${names.node(node_id)}`,
      }[action],
    ),
  next_agent_taken: ({ payload: { agent_id } }) => detail(`${agent_id} continued, as chosen by a person`),
  signal_received: ({ payload: { name, by } }) => story(`${by} sent the signal “${name}”`),
  signal_taken: ({ node_id, payload: { name } }, names) =>
    detail(`${names.node(node_id)} received the signal “${name}”, sent earlier`),
  node_retried: ({ node_id, payload: { by, along } }, names) =>
    along
      ? detail(`${names.node(node_id)} restarted after being stopped by that failure`)
      : story(`${by} retried ${names.node(node_id)}`),
  instruction_injected: ({ payload: { target, text, by } }, names) =>
    story(`${by} messaged ${describeTarget(target, names.node)}: ${text}`),
  node_skipped_by: ({ node_id, payload }, names) =>
    story(`${payload.by} skipped ${names.node(node_id)} and set its output`, "skipped"),
  breakpoints_set: ({ payload: { breakpoints } }) =>
    detail(
      breakpoints.length === 0
        ? "All breakpoints removed"
        : `The run now has ${countOf(breakpoints.length, "breakpoint")}`,
    ),
  run_forked: ({ payload: { patches, graph } }) => {
    const { state, messages = [], plan = [] } = patches;
    const keys = [...Object.keys(state?.set ?? {}), ...(state?.remove ?? [])];
    const changes = [
      ...(keys.length > 0 ? [`changes to ${formatList(keys.map((key) => `“${key}”`))}`] : []),
      ...(messages.length > 0 ? [countOf(messages.length, "edited message")] : []),
      ...(plan.length > 0 ? ["an edited plan"] : []),
      ...(graph === "latest" ? ["the current workflow version"] : []),
      ...(graph === "published" ? ["the published workflow version"] : []),
    ];
    const how = changes.length > 0 ? `, with ${formatList(changes)}` : "";
    return story(`Forked here${how}; earlier events come from the original run`, "running");
  },
  run_finished: ({ payload }) => {
    const base = FINAL_STATUS_SENTENCES[payload.final_status];
    return payload.error && payload.final_status !== "COMPLETED"
      ? { ...base, text: `${base.text}: ${payload.error.message}` }
      : base;
  },

  state_initialized: ({ payload }) => {
    const given = Object.keys(payload.state);
    const defaults =
      payload.defaults_applied.length > 0 ? `; ${keys(payload.defaults_applied)} by default` : "";
    return detail(
      given.length > 0 ? `State initialized with ${keys(given)}${defaults}` : "Empty state initialized",
    );
  },
  state_patched: ({ payload }) =>
    detail(`${keys(Object.keys({ ...payload.set, ...payload.changed })) || "Nothing"} written to the state`),
  state_conflict: ({ payload }, names) =>
    story(
      `${payload.writers.map((writer) => names.node(writer.split("#")[0])).join(" and ")} both wrote “${
        payload.key
      }”; ${payload.policy === "strict" ? "concurrent writes aren't allowed" : `kept the value from ${names.node(payload.winner.split("#")[0])}`}`,
      "warning",
    ),
  state_invalid: ({ payload }) =>
    story(`“${payload.key}” doesn't match the state schema: ${payload.errors.join("; ")}`, "failed"),

  budget_warning: ({ payload }) =>
    story(`${used(payload.metric, payload.used)} of ${used(payload.metric, payload.limit)} used`, "warning"),
  budget_exceeded: ({ payload }) =>
    story(
      `Budget used up: ${used(payload.metric, payload.used)} of ${used(payload.metric, payload.limit)}`,
      "failed",
    ),
  warning: ({ payload }) => story(payload.message, "warning"),
} satisfies SentencesOf;
