"use client";

import clsx from "clsx";
import { Crosshair, Pencil, PlugZap, RotateCcw, TextCursorInput, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { type Status, StatusMark } from "@/components/display/status-mark";
import { Button, ButtonLink } from "@/components/ui/button";
import { TimeText } from "@/components/ui/time-text";
import type { RunState } from "@/server/domain/run";
import { failedNode } from "@/server/domain/run/result";
import { RetryButton } from "../control/retry-button";
import { RunElapsed } from "../live/elapsed";
import { adviceFor } from "../node/error-note";
import { HeldActions } from "../quarantine-note";
import { RequestDifference } from "../replay/request-difference";
import { useRun, useRunList } from "../run-context";
import { useRunPage } from "../run-page-context";
import { useRunAgain } from "../start/run-again";
import { runStatus } from "../status";
import { RaiseLimit } from "./raise-limit";
import { runSummary } from "./run-summary";

/** How the run ended or why it is quarantined, and what can be done now. */
export function Outcome() {
  const run = useRun<RunState["run"] | undefined>(({ state }) => state.run, undefined);
  const held = useRunPage()?.held ?? null;
  if (!run) return null;
  if (held)
    return (
      <Card status="held" tone="failed" actions={<HeldButtons />}>
        <p className="[overflow-wrap:anywhere]">{held.message}</p>
        <p className="text-ink-2">
          Quarantined <TimeText at={held.at} />. Retry or cancel the run.
        </p>
      </Card>
    );
  if (run.status !== "finished")
    return <p className="text-[13px] text-ink-2">The result appears here when the run finishes.</p>;
  const status = runStatus(run.status, run.final_status);
  if (run.final_status === "COMPLETED")
    return (
      <Card status={status} tone="plain">
        <Summary />
        <Warnings />
      </Card>
    );
  return (
    <Card
      status={status}
      tone={run.final_status === "ERROR" ? "failed" : run.final_status === "INCOMPLETE" ? "waiting" : "plain"}
      isOver
      actions={<Actions run={run} />}
    >
      <Reason run={run} />
      <Warnings />
    </Card>
  );
}

/** One line about how the run went. */
function Summary() {
  const summary = useRun(
    ({ state, waited, cursor, lastSeq }) => runSummary(state, waited[(cursor ?? lastSeq) - 1]),
    "",
  );
  return <p className="text-ink-2 [overflow-wrap:anywhere]">{summary}</p>;
}

function Card({
  status,
  tone,
  isOver,
  actions,
  children,
}: {
  status: Status;
  tone: "plain" | "failed" | "waiting";
  isOver?: boolean;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section
      aria-label="Outcome"
      className={clsx(
        "flex flex-col gap-2 text-[13px] leading-5",
        tone !== "plain" && "rounded-xl border px-4 py-3",
        tone === "failed" && "border-failed/35 bg-failed/6",
        tone === "waiting" && "border-waiting/40 bg-waiting/8",
      )}
    >
      <p className="flex items-center gap-2">
        <StatusMark status={status} withWord />
        {isOver ? (
          <span className="text-ink-3 tabular-nums">
            after <RunElapsed />
          </span>
        ) : null}
      </p>
      {children}
      {actions ? <div className="flex flex-wrap gap-2 pt-1">{actions}</div> : null}
    </section>
  );
}

function Reason({ run }: { run: RunState["run"] }) {
  const nodeId = useRun(({ state }) => failedNode(state), null);
  const name = useRun(({ head }) => (nodeId ? head.graph.nodes[nodeId]?.name || nodeId : null), null);
  const asked = useRun(
    ({ events, lastSeq }) =>
      events
        .slice(Math.max(0, lastSeq - 200), lastSeq)
        .findLast(({ type }) => type === "run_cancel_requested"),
    undefined,
  );
  if (run.final_status === "CANCELLED")
    return (
      <p className="text-ink-2">
        {asked?.type === "run_cancel_requested" && asked.payload.reason
          ? asked.payload.reason
          : "Cancelled before it finished."}
      </p>
    );
  if (!run.error)
    return run.final_status === "ERROR" ? (
      <p className="text-ink-2">The run reached an end node set to fail the run.</p>
    ) : null;
  // Otherwise the first button says what to do.
  const advice = run.error.user_action === "retry" && !run.error.activation_id ? adviceFor(run.error) : null;
  return (
    <div role="alert" className="flex flex-col gap-1">
      {name && !run.error.message.startsWith(name) ? <p className="font-medium">{name} failed.</p> : null}
      <p className="[overflow-wrap:anywhere]">{run.error.message}</p>
      {advice ? <p className="text-ink-2">{advice}</p> : null}
      <RequestDifference error={run.error} />
      <p className="font-mono text-[11px] text-ink-3">{run.error.code}</p>
    </div>
  );
}

/** The available actions, most likely first. */
function Actions({ run }: { run: RunState["run"] }) {
  const page = useRunPage();
  const again = useRunAgain();
  const nodeId = useRun(({ state }) => failedNode(state), null);
  if (!page) return null;
  const action = run.error?.user_action;
  const canEdit = run.workflow_id !== null && again !== null && !again.isGone;
  const place = run.error?.node_id ?? nodeId;
  const retry = (variant?: "primary") =>
    run.error?.activation_id ? (
      <RetryButton
        activationId={run.error.activation_id}
        label="Retry failed node"
        {...(variant ? { variant } : {})}
      />
    ) : null;
  const first =
    action === "settings" ? (
      <ButtonLink href="/settings" variant="primary" icon={<PlugZap aria-hidden />}>
        Change provider
      </ButtonLink>
    ) : canEdit && action === "edit_graph" ? (
      <ButtonLink
        href={`/workflows/${run.workflow_id}${place ? `?node=${encodeURIComponent(place)}` : ""}`}
        variant="primary"
        icon={<Pencil aria-hidden />}
      >
        Edit workflow
      </ButtonLink>
    ) : null;
  return (
    <>
      {(run.resumable?.length ?? 0) > 0 ? <RaiseLimit runId={page.runId} onRaised={page.onResumed} /> : null}
      {first ?? retry("primary")}
      {first && retry()}
      {nodeId ? (
        <Button icon={<Crosshair aria-hidden />} onClick={() => page.openNode(nodeId)}>
          Open node
        </Button>
      ) : null}
      {canEdit ? <RunAgainButtons /> : null}
    </>
  );
}

/** On wide screens these are in the header. */
function RunAgainButtons() {
  const again = useRunAgain();
  return again ? (
    <div className="flex flex-wrap gap-2 lg:hidden">
      <Button icon={<RotateCcw aria-hidden />} pending={again.isPending} onClick={again.start}>
        Rerun
      </Button>
      <Button icon={<TextCursorInput aria-hidden />} onClick={again.editInput}>
        Edit input
      </Button>
    </div>
  ) : null;
}

function HeldButtons() {
  const page = useRunPage();
  return page?.held ? <HeldActions runId={page.runId} held={page.held} /> : null;
}

function Warnings() {
  const warnings = useRunList<string>(({ state }) => [...new Set(state.run.warnings)]);
  if (warnings.length === 0) return null;
  return (
    <ul aria-label="Warnings" className="flex flex-col gap-1.5">
      {warnings.map((warning) => (
        <li key={warning} className="flex gap-2">
          <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-waiting" />
          <span className="min-w-0 [overflow-wrap:anywhere]">{warning}</span>
        </li>
      ))}
    </ul>
  );
}
