"use client";

import { useQuery } from "@tanstack/react-query";
import { CircleSlash2, Unplug } from "lucide-react";
import { type ReactNode, useCallback, useEffect, useMemo, useState } from "react";
import { type CrewStage, CrewStageProvider, useNewCrewStage } from "@/components/run/crew/crew-stage";
import { AskBar, focusAsks, LateAsks } from "@/components/run/questions/asks";
import { useTrpc } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Spinner } from "@/components/ui/spinner";
import { NARROW, useMedia } from "@/components/ui/use-media";
import type { QuarantineReason } from "@/server/domain/run/quarantine";
import { BreakpointsOver } from "./breakpoints/breakpoints-over";
import { ChildStageProvider } from "./children/child-stage";
import { PausedBelowBar } from "./children/paused-child";
import { PausedBar } from "./control/paused-bar";
import { RunControlProvider, useControlling } from "./control/run-control-context";
import { ControlsBelow } from "./control/run-controls";
import { useRunNow } from "./live/run-now";
import { useRunEvents } from "./live/use-run-events";
import { QuarantineNote } from "./quarantine-note";
import { RunCanvas } from "./run-canvas";
import { RunProvider, useRun, useRunViewStore } from "./run-context";
import { RunHeader } from "./run-header";
import { type RunPage, RunPageProvider } from "./run-page-context";
import { RunPanel, usePanel } from "./run-panel";
import { Splitter } from "./splitter";
import { RunAgainProvider } from "./start/run-again";
import { RunAnnouncer } from "./timeline/announcer";
import { Scrubber } from "./timeline/scrubber";
import "./run.css";

/** The page of a run that follows its events. */
export function RunScreen({ runId, workflowId }: { runId: string; workflowId: string }) {
  const { store, resume } = useRunEvents(runId);
  return (
    <RunProvider store={store}>
      <ShownRun runId={runId} workflowId={workflowId} onResumed={resume} />
    </RunProvider>
  );
}

/** The page of the run whose store is provided. */
export function ShownRun({
  runId,
  workflowId,
  onResumed,
}: {
  runId: string;
  workflowId: string;
  onResumed: () => void;
}) {
  const { held, place } = useRunNow(runId);
  const isEmpty = useRun((view) => view.lastSeq === 0, true);
  const isNarrow = useMedia(NARROW);
  return (
    <RunAgainProvider runId={runId} workflowId={workflowId}>
      <RunControlProvider runId={runId} workflowId={workflowId}>
        <div className="flex h-full min-h-0 flex-col bg-bg">
          <RunHeader runId={runId} workflowId={workflowId} isHeld={held !== null} place={place} />
          <ContinuedNotice runId={runId} onNews={onResumed} />
          {held && isEmpty ? (
            <>
              <QuarantineNote runId={runId} held={held} />
              <EmptyState
                icon={<CircleSlash2 />}
                title="Can't load this run"
                className="flex-1 justify-center"
              >
                The run's log is damaged from the first event.
              </EmptyState>
            </>
          ) : (
            <Body runId={runId} workflowId={workflowId} held={held} onRetry={onResumed} />
          )}
          {isNarrow ? <ControlsBelow isHeld={held !== null} /> : null}
          <RunAnnouncer />
        </div>
      </RunControlProvider>
    </RunAgainProvider>
  );
}

function Body({
  runId,
  workflowId,
  held,
  onRetry,
}: {
  runId: string;
  workflowId: string;
  held: QuarantineReason | null;
  onRetry: () => void;
}) {
  const connection = useRun((view) => view.connection, "connecting");
  const isEmpty = useRun((view) => view.lastSeq === 0, true);
  const connectionError = useRun((view) => view.connectionError, undefined);
  if (isEmpty && connection === "failed")
    return (
      <EmptyState
        icon={<CircleSlash2 />}
        title="Can't load this run"
        className="flex-1 justify-center"
        actions={
          <>
            <Button onClick={onRetry}>Try again</Button>
            <ButtonLink href={`/workflows/${workflowId}`} variant="primary">
              Open workflow
            </ButtonLink>
          </>
        }
      >
        {connectionError ?? "Run not found."}
      </EmptyState>
    );
  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      {isEmpty ? (
        <div className="flex flex-1 items-center justify-center bg-stage text-ink-3">
          <Spinner size={20} label="Loading run…" />
        </div>
      ) : (
        <Stage runId={runId} held={held} onResumed={onRetry} />
      )}
      <Reconnecting onRetry={onRetry} />
    </div>
  );
}

/**
 * The panel next to the canvas, with a splitter between them. On phones the panel fills the page, and the canvas is one of
 * its tabs.
 */
function Stage({
  runId,
  held,
  onResumed,
}: {
  runId: string;
  held: QuarantineReason | null;
  onResumed: () => void;
}) {
  const isNarrow = useMedia(NARROW);
  const panel = usePanel(isNarrow, held !== null);
  const { tab, setTab, selected, select, openFile } = panel;
  const [wide, setWide] = useShare("troupe.run.wide", 30);
  const setControlled = useControlling()?.select;
  useEffect(() => setControlled?.(selected), [setControlled, selected]);
  const showCrew = useCallback(() => setTab("crew"), [setTab]);
  const crews = useNewCrewStage(showCrew);
  const page = useMemo<RunPage>(
    () => ({
      runId,
      held,
      onResumed,
      openFile,
      openCrew: crews.unfold,
      openNode: (nodeId) => select(nodeId),
      openAsks: () => {
        setTab("question");
        focusAsks();
      },
    }),
    [runId, held, onResumed, openFile, crews.unfold, select, setTab],
  );
  const canvas = (
    <div className="relative h-full min-h-0 flex-1">
      {isNarrow ? null : <BreakpointsOver />}
      <RunCanvas selected={selected} onSelect={select} isHeld={held !== null} />
    </div>
  );
  return (
    <StageProviders page={page} crews={crews} panel={panel}>
      {tab === "question" ? null : <AskBar onAnswer={page.openAsks} />}
      <LateAsks />
      <PausedBar />
      <PausedBelowBar />
      <div
        className="run-stage relative flex min-h-0 flex-1 flex-col md:flex-row"
        style={{ "--run-wide": `${wide}%` }}
      >
        {isNarrow ? (
          <BreakpointsOver />
        ) : (
          <>
            <div className="flex min-h-0 min-w-0 flex-1 flex-col">
              {canvas}
              <Scrubber />
            </div>
            <Splitter label="Panel width" value={wide} min={24} max={60} onValueChange={setWide} />
          </>
        )}
        <RunPanel panel={panel} canvas={isNarrow ? canvas : null} />
        {isNarrow && (tab === "workflow" || panel.isPast) ? <Scrubber /> : null}
      </div>
    </StageProviders>
  );
}

function StageProviders({
  page,
  crews,
  panel: { picked, pick },
  children,
}: {
  page: RunPage;
  crews: CrewStage;
  panel: ReturnType<typeof usePanel>;
  children: ReactNode;
}) {
  return (
    <RunPageProvider value={page}>
      <CrewStageProvider value={crews}>
        <ChildStageProvider runId={page.runId} picked={picked} onPick={pick}>
          {children}
        </ChildStageProvider>
      </CrewStageProvider>
    </RunPageProvider>
  );
}

/** A share of the page that this browser remembers. */
function useShare(key: string, initial: number): [number, (share: number) => void] {
  const [share, setShare] = useState(initial);
  useEffect(() => {
    const saved = Number(localStorage.getItem(key));
    // Known only in the browser: the server renders the initial share.
    // oxlint-disable-next-line react/set-state-in-effect
    if (saved > 0) setShare(saved);
  }, [key]);
  return [
    share,
    (next) => {
      setShare(next);
      localStorage.setItem(key, String(next));
    },
  ];
}

function Reconnecting({ onRetry }: { onRetry: () => void }) {
  const connection = useRun((view) => view.connection, "live");
  const isEmpty = useRun((view) => view.lastSeq === 0, true);
  const [isSlow, setSlow] = useState(false);
  const isBroken = connection === "reconnecting" || (connection === "failed" && !isEmpty);
  useEffect(() => {
    // Don't report short interruptions.
    const timer = setTimeout(() => setSlow(isBroken), isBroken ? 800 : 0);
    return () => clearTimeout(timer);
  }, [isBroken]);
  if (!isSlow || !isBroken) return null;
  return (
    <div
      role="status"
      className="absolute top-3 left-1/2 z-20 flex -translate-x-1/2 items-center gap-2 rounded-full border border-waiting/50 bg-raised py-1 pr-1.5 pl-3 text-[13px] shadow-2"
    >
      {connection === "failed" ? (
        <Unplug aria-hidden className="size-4 text-waiting" />
      ) : (
        <Spinner size={14} />
      )}
      {connection === "failed" ? "Disconnected" : "Reconnecting…"}
      <Button size="sm" variant="ghost" onClick={onRetry}>
        Retry now
      </Button>
    </div>
  );
}

/** Polls whether a run that stopped at a limit or failed was resumed by someone else. */
function ContinuedNotice({ runId, onNews }: { runId: string; onNews: () => void }) {
  const store = useRunViewStore();
  const waits = useRun(({ head: { run, failing }, connection }) => {
    if (connection !== "ended") return null;
    if ((run.resumable?.length ?? 0) > 0) return 3_000;
    return run.final_status === "ERROR" && failing?.activation_id !== undefined ? 15_000 : null;
  }, null);
  const canGoOn = waits !== null;
  const { data } = useQuery({
    ...useTrpc().runs.get.queryOptions({ run_id: runId }),
    enabled: canGoOn,
    refetchInterval: waits ?? false,
  });
  const lastSeq = data?.last_seq ?? 0;
  useEffect(() => {
    if (canGoOn && store && lastSeq > store.received()) onNews();
  }, [canGoOn, store, lastSeq, onNews]);
  return null;
}
