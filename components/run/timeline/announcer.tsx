"use client";

import { useEffect, useMemo, useState } from "react";
import type { EventType } from "@/server/domain/run/events";
import { useRun, useRunViewStore } from "../run-context";
import { newNames } from "./sentence-parts";
import { sentenceOf } from "./sentences";

const EVERY_MS = 1_500;

/** Announces the progress of the run to screen readers, several events together. */
export function RunAnnouncer() {
  const store = useRunViewStore();
  const graph = useRun((view) => view.head.graph, null);
  const names = useMemo(() => newNames(graph, () => store?.view.getState().head.plans ?? {}), [graph, store]);
  const [announcement, setAnnouncement] = useState("");
  useEffect(() => {
    if (!store) return;
    // What was there before the page opened is not news.
    let announcedSeq: number | null = null;
    const timer = setInterval(() => {
      const { events, lastSeq, cursor, connection } = store.view.getState();
      if (announcedSeq === null) {
        if (connection === "live" || connection === "ended") announcedSeq = lastSeq;
        return;
      }
      if (lastSeq === announcedSeq || cursor !== null) return;
      const news = events.slice(announcedSeq, lastSeq).filter(({ type }) => ANNOUNCED[type]);
      announcedSeq = lastSeq;
      if (news.length > 0)
        setAnnouncement(
          news
            .slice(-3)
            .map((event) => sentenceOf(event, names).text)
            .join(". "),
        );
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [store, names]);
  return (
    <p role="status" aria-live="polite" className="sr-only">
      {announcement}
    </p>
  );
}

/**
 * Which events screen readers announce at once while a run is running: progress, errors and questions. The rest is in the
 * timeline. Complete, so that the compiler rejects an event type that is missing here.
 */
const ANNOUNCED: Readonly<Record<EventType, boolean>> = {
  run_created: false,
  run_started: false,
  run_cancel_requested: false,
  run_recovered: false,
  clock_jumped: false,
  run_limit_raised: false,
  run_resumed: true,
  run_paused: true,
  run_continued: true,
  breakpoints_set: false,
  run_forked: true,
  state_edited: true,
  signal_received: true,
  signal_taken: false,
  node_retried: true,
  next_overridden: true,
  member_changed: true,
  next_agent_taken: false,
  instruction_injected: true,
  node_skipped_by: true,
  run_finished: true,
  budget_warning: true,
  budget_exceeded: false,
  warning: false,

  state_initialized: false,
  state_patched: false,
  state_conflict: false,
  state_invalid: false,

  node_ready: false,
  node_started: true,
  node_waiting: true,
  timer_fired: false,
  router_decided: true,
  node_completed: false,
  node_failed: true,
  node_retry_scheduled: false,
  node_skipped: false,
  node_cancelled: false,

  edge_taken: false,
  edge_skipped: false,
  token_absorbed: false,
  join_rearmed: false,
  join_shortfall: false,
  loop_started: false,
  loop_iteration: false,
  loop_finished: false,

  map_started: false,
  map_progressed: false,
  child_started: false,
  child_finished: false,

  agent_started: false,
  iteration_started: false,
  message_added: false,
  output_parsed: false,
  agent_tainted: false,
  context_condensed: false,
  stuck_detected: false,
  guardrail_checked: false,
  memory_stored: false,
  agent_finished: false,

  llm_call_started: false,
  llm_call_completed: false,
  llm_call_failed: false,

  tool_call_started: false,
  tool_call_refused: false,
  tool_call_retried: false,
  tool_call_abandoned: false,
  tool_call_completed: false,
  artifact_created: false,

  // The bar of open questions is a live region of its own.
  interaction_requested: true,
  interaction_reminded: false,
  interaction_escalated: false,
  interaction_extended: false,
  interaction_answered: false,

  crew_started: false,
  crew_finished: false,
  round_started: false,
  post_sent: false,
  ledger_updated: false,
  board_written: false,
  handed_off: false,
  delegation_started: false,
  delegation_finished: false,
  team_changed: false,
  proposal_created: false,
  vote_cast: false,
  consensus_finalized: false,

  plan_created: false,
  plan_changed: false,
  criterion_checked: false,
  task_status_changed: false,
};
