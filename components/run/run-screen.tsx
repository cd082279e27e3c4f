"use client";

import { useQuery } from "@tanstack/react-query";
import { CircleSlash2, Hand, Unplug } from "lucide-react";
import dynamic from "next/dynamic";
import { type ReactNode, useCallback, useEffect, useMemo, useState } from "react";
import { useCrewNodes } from "@/components/run/crew/crew-on-canvas";
import { type CrewStage, CrewStageProvider, useNewCrewStage } from "@/components/run/crew/crew-stage";
import { AskBar, AskPanel, focusAsks, LateAsks, openAsksOf } from "@/components/run/questions/asks";
import { useTrpc } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Spinner } from "@/components/ui/spinner";
import { Tabs } from "@/components/ui/tabs";
import { NARROW, useMedia } from "@/components/ui/use-media";
import type { RunState } from "@/server/domain/run";
import type { QuarantineReason } from "@/server/domain/run/quarantine";
import { failedNode } from "@/server/domain/run/result";
import { BreakpointsOver } from "./breakpoints/breakpoints-over";
import { PausedBar } from "./control/paused-bar";
import { RunControlProvider, useControlling } from "./control/run-control-context";
import { ControlsBelow } from "./control/run-controls";
import { useRunNow } from "./live/run-now";
import { spotlightNode } from "./live/spotlight";
import { useRunEvents } from "./live/use-run-events";
import { NodeView } from "./node/node-view";
import { FindingsView, useFindings } from "./past/findings";
import { QuarantineNote } from "./quarantine-note";
import { ResultView } from "./result/result-view";
import { RunCanvas } from "./run-canvas";
import { RunProvider, useRun, useRunViewStore } from "./run-context";
import { RunHeader } from "./run-header";
import { type RunPage, RunPageProvider } from "./run-page-context";
import { Splitter } from "./splitter";
import { RunAgainProvider } from "./start/run-again";
import { StateView } from "./state-view";
import { RunAnnouncer } from "./timeline/announcer";
import { Scrubber } from "./timeline/scrubber";
import { INITIAL_TIMELINE_VIEW, Timeline } from "./timeline/timeline";
import "./run.css";

const FilesView = dynamic(() => import("./result/files-view").then((module) => module.FilesView));
const CrewPanel = dynamic(() => import("./crew/crew-panel").then((module) => module.CrewPanel));

type Tab = "question" | "result" | "workflow" | "timeline" | "node" | "crew" | "state" | "files" | "findings";

/** One run: on the drawing it happened on, with its result, its timeline, its nodes and its state. */
export function RunScreen({ runId, workflowId }: { runId: string; workflowId: string }) {
  const { store, resume } = useRunEvents(runId);
  return (
    <RunProvider store={store}>
      <ShownRun runId={runId} workflowId={workflowId} onResumed={resume} />
    </RunProvider>
  );
}

/** The page of the run around, whose events come from elsewhere. */
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
                title="Nothing of this run can be shown"
                className="flex-1 justify-center"
              >
                What was recorded of it is damaged from its beginning.
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
        title="This run cannot be shown"
        className="flex-1 justify-center"
        actions={
          <>
            <Button onClick={onRetry}>Try again</Button>
            <ButtonLink href={`/workflows/${workflowId}`} variant="primary">
              Open the workflow
            </ButtonLink>
          </>
        }
      >
        {connectionError ?? "The server does not know it."}
      </EmptyState>
    );
  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      {isEmpty ? (
        <div className="flex flex-1 items-center justify-center bg-stage text-ink-3">
          <Spinner size={20} label="Loading the run" />
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
  const { tab, setTab, questions, isOver, isPast } = useTab(isNarrow, held !== null);
  const [timelineView, setTimelineView] = useState(INITIAL_TIMELINE_VIEW);
  const [chosen, setSelected] = useState<string | null | undefined>(undefined);
  const failed = useRun(({ head }) => failedNode(head), null);
  const selected = chosen === undefined ? failed : chosen;
  const [activation, setActivation] = useState<string | null>(null);
  const [wide, setWide] = useShare("troupe.run.wide", 30);
  const lit = useRun(spotlightNode, null);
  const choose = useControlling()?.select;
  useEffect(() => choose?.(selected), [choose, selected]);
  const showCrew = useCallback(() => setTab("crew"), [setTab]);
  const crews = useNewCrewStage(showCrew);
  const crewNodes = useCrewNodes();
  const [file, setFile] = useState<string | null>(null);
  const fileCount = useRun(({ state }) => Object.keys(state.files).length, 0);
  const findings = useFindings();
  const page = useMemo<RunPage>(
    () => ({
      runId,
      held,
      onResumed,
      openFile: (path) => {
        setFile(path);
        setTab("files");
      },
      openCrew: crews.unfold,
      openNode: (nodeId) => {
        setSelected(nodeId);
        setActivation(null);
        setTab("node");
      },
      openAsks: () => {
        setTab("question");
        focusAsks();
      },
    }),
    [runId, held, onResumed, crews.unfold, setTab],
  );

  const select = (nodeId: string | null, activationId: string | null = null) => {
    setSelected(nodeId);
    setActivation(activationId);
    if (nodeId) setTab("node");
  };

  const canvas = (
    <div className="relative h-full min-h-0 flex-1">
      {isNarrow ? null : <BreakpointsOver />}
      <RunCanvas selected={selected} onSelect={select} isHeld={held !== null} />
    </div>
  );
  return (
    <StageProviders page={page} crews={crews}>
      {tab === "question" ? null : <AskBar onAnswer={page.openAsks} />}
      <LateAsks />
      <PausedBar />
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
            <Splitter label="Width of the panel" value={wide} min={24} max={60} onValueChange={setWide} />
          </>
        )}
        <aside
          aria-label="About this run"
          className="run-panel flex min-h-0 flex-col bg-surface max-md:flex-1 md:shrink-0"
        >
          <Tabs<Tab>
            label="About this run"
            value={tab}
            onValueChange={setTab}
            className="min-h-0 flex-1"
            listClassName="px-4"
            panelClassName="overflow-y-auto overscroll-contain"
            tabs={[
              ...(questions > 0
                ? [
                    {
                      value: "question" as const,
                      label: questions > 1 ? "Questions" : "Question",
                      icon: <Hand aria-hidden className="text-waiting" />,
                      badge:
                        questions > 1 ? (
                          <span className="text-xs font-normal text-ink-3 tabular-nums">{questions}</span>
                        ) : null,
                      content: <AskPanel />,
                    },
                  ]
                : []),
              {
                value: "result",
                label: "Result",
                badge:
                  isOver && tab !== "result" ? (
                    <span title="The run has ended" className="size-1.5 rounded-full bg-accent" />
                  ) : null,
                content: <ResultView />,
              },
              ...(isNarrow ? [{ value: "workflow" as const, label: "Workflow", content: canvas }] : []),
              {
                value: "timeline",
                label: "Timeline",
                content: (
                  <Timeline view={timelineView} onViewChange={setTimelineView} onSelectNode={select} />
                ),
              },
              {
                value: "node",
                label: "Node",
                content: (
                  <NodeView
                    nodeId={selected ?? lit}
                    pickedActivation={activation}
                    onPickActivation={setActivation}
                  />
                ),
              },
              ...(crewNodes.length > 0
                ? [
                    {
                      value: "crew" as const,
                      label: "Crew",
                      content: <CrewPanel nodeIds={crewNodes} fallback={selected ?? lit} />,
                    },
                  ]
                : []),
              { value: "state", label: "State", content: <StateView onSelectNode={select} /> },
              ...(findings.length > 0 || tab === "findings"
                ? [
                    {
                      value: "findings" as const,
                      label: "What went wrong",
                      badge: (
                        <span className="text-xs font-normal text-ink-3 tabular-nums">{findings.length}</span>
                      ),
                      content: <FindingsView findings={findings} />,
                    },
                  ]
                : []),
              ...(fileCount > 0 || tab === "files"
                ? [
                    {
                      value: "files" as const,
                      label: "Files",
                      badge: <span className="text-xs font-normal text-ink-3 tabular-nums">{fileCount}</span>,
                      content: <FilesView path={file} onPath={setFile} />,
                    },
                  ]
                : []),
            ]}
          />
        </aside>
        {isNarrow && (tab === "workflow" || isPast) ? <Scrubber /> : null}
      </div>
    </StageProviders>
  );
}

/**
 * Which tab the panel shows. Until a person opens one: the timeline (on phones the canvas) while the run runs, then the
 * result. Whenever the run starts to wait for a person, it is the question.
 */
function useTab(isNarrow: boolean, isHeld: boolean) {
  const store = useRunViewStore();
  const [opened, setOpened] = useState<{ tab: Tab; asking: string | null } | null>(null);
  const isOver = useRun(({ head }) => head.run.status === "finished", false) || isHeld;
  const isPast = useRun(({ cursor }) => cursor !== null, false);
  const questions = useRun(({ head }) => (isHeld ? 0 : openAsksOf(head).length), 0);
  const waitedFor = useRun(({ head }) => (isHeld ? null : newestAsk(head)), null);
  const setTab = useCallback(
    (tab: Tab) => setOpened({ tab, asking: store ? newestAsk(store.view.getState().head) : null }),
    [store],
  );
  const isThere = (tab: Tab) => (tab === "question" ? questions > 0 : tab !== "workflow" || isNarrow);
  const usual: Tab = isOver && !isPast ? "result" : isNarrow ? "workflow" : "timeline";
  const isNews = waitedFor !== null && waitedFor !== opened?.asking && !isPast;
  const tab: Tab = isNews ? "question" : opened && isThere(opened.tab) ? opened.tab : usual;
  return { tab, setTab, questions, isOver, isPast };
}

/** The newest question that the run waits for. */
const newestAsk = (head: RunState): string | null =>
  openAsksOf(head).findLast(({ requested }) => requested.mode !== "advisory")?.id ?? null;

function StageProviders({ page, crews, children }: { page: RunPage; crews: CrewStage; children: ReactNode }) {
  return (
    <RunPageProvider value={page}>
      <CrewStageProvider value={crews}>{children}</CrewStageProvider>
    </RunPageProvider>
  );
}

/** A share of the page that this browser remembers. */
function useShare(key: string, initial: number): [number, (share: number) => void] {
  const [share, setShare] = useState(initial);
  useEffect(() => {
    const saved = Number(localStorage.getItem(key));
    // Known only in the browser: the server draws with the initial share.
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
    // A break that heals at once is not worth a word.
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

/** A run that stopped at a limit, or failed at a node, may be let go on from elsewhere: looks now and then. */
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
