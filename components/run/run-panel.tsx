"use client";

import { Hand } from "lucide-react";
import dynamic from "next/dynamic";
import { type ReactNode, useCallback, useState } from "react";
import { useCrewNodes } from "@/components/run/crew/crew-on-canvas";
import { AskPanel, openAsksOf } from "@/components/run/questions/asks";
import { Tabs, type TabsProps } from "@/components/ui/tabs";
import type { RunState } from "@/server/domain/run";
import { failedNode } from "@/server/domain/run/result";
import { ChildNode } from "./children/child-node";
import type { PickedNode } from "./children/child-stage";
import { spotlightNode } from "./live/spotlight";
import { NodeView } from "./node/node-view";
import { FindingsView, useFindings } from "./past/findings";
import { ResultView } from "./result/result-view";
import { useRun, useRunViewStore } from "./run-context";
import { StateView } from "./state-view";
import { INITIAL_TIMELINE_VIEW, Timeline } from "./timeline/timeline";

const FilesView = dynamic(() => import("./result/files-view").then((module) => module.FilesView));
const CrewPanel = dynamic(() => import("./crew/crew-panel").then((module) => module.CrewPanel));

type Tab = "question" | "result" | "workflow" | "timeline" | "node" | "crew" | "state" | "files" | "findings";

/** The tabs about a run. `canvas`: shown as a tab, on phones. */
export function RunPanel({
  panel,
  canvas,
}: {
  panel: ReturnType<typeof usePanel>;
  canvas: ReactNode | null;
}) {
  const {
    tab,
    setTab,
    questions,
    isOver,
    selected,
    select,
    picked,
    activation,
    setActivation,
    file,
    setFile,
  } = panel;
  const [timelineView, setTimelineView] = useState(INITIAL_TIMELINE_VIEW);
  const nodeId = useRun(spotlightNode, null);
  const shownNode = selected ?? nodeId;
  const crewNodes = useCrewNodes();
  const fileCount = useRun(({ state }) => Object.keys(state.files).length, 0);
  const findings = useFindings();
  const tabs: (TabsProps<Tab>["tabs"][number] & { isHidden?: boolean })[] = [
    {
      value: "question",
      label: questions > 1 ? "Questions" : "Question",
      icon: <Hand aria-hidden className="text-waiting" />,
      badge: questions > 1 ? <Count value={questions} /> : null,
      content: <AskPanel />,
      isHidden: questions === 0,
    },
    {
      value: "result",
      label: "Result",
      badge: isOver && tab !== "result" ? <EndedDot /> : null,
      content: <ResultView />,
    },
    { value: "workflow", label: "Workflow", content: canvas, isHidden: canvas === null },
    {
      value: "timeline",
      label: "Timeline",
      content: <Timeline view={timelineView} onViewChange={setTimelineView} onSelectNode={select} />,
    },
    {
      value: "node",
      label: "Node",
      content: picked ? (
        <ChildNode key={`${picked.runId} ${picked.nodeId}`} picked={picked} />
      ) : (
        <NodeView nodeId={shownNode} pickedActivation={activation} onPickActivation={setActivation} />
      ),
    },
    {
      value: "crew",
      label: "Crew",
      content: <CrewPanel nodeIds={crewNodes} fallback={shownNode} />,
      isHidden: crewNodes.length === 0,
    },
    { value: "state", label: "State", content: <StateView onSelectNode={select} /> },
    {
      value: "findings",
      label: "Diagnostics",
      badge: <Count value={findings.length} />,
      content: <FindingsView findings={findings} />,
      isHidden: findings.length === 0 && tab !== "findings",
    },
    {
      value: "files",
      label: "Files",
      badge: <Count value={fileCount} />,
      content: <FilesView path={file} onPath={setFile} />,
      isHidden: fileCount === 0 && tab !== "files",
    },
  ];
  return (
    <aside
      aria-label="Run details"
      className="run-panel flex min-h-0 flex-col bg-surface max-md:flex-1 md:shrink-0"
    >
      <Tabs<Tab>
        label="Run details"
        value={tab}
        onValueChange={setTab}
        className="min-h-0 flex-1"
        listClassName="px-4"
        panelClassName="overflow-y-auto overscroll-contain"
        tabs={tabs.filter(({ isHidden }) => !isHidden)}
      />
    </aside>
  );
}

const Count = ({ value }: { value: number }) => (
  <span className="text-xs font-normal text-ink-3 tabular-nums">{value}</span>
);

const EndedDot = () => <span title="Run finished" className="size-1.5 rounded-full bg-accent" />;

/** What the panel shows: the tab, and the selected node, activation and file. */
export function usePanel(isNarrow: boolean, isHeld: boolean) {
  const tabs = useTab(isNarrow, isHeld);
  const { setTab } = tabs;
  // Undefined until a person selects: the failed node, if any.
  const [chosen, setChosen] = useState<string | null | undefined>(undefined);
  const failed = useRun(({ head }) => failedNode(head), null);
  const [picked, setPicked] = useState<PickedNode | null>(null);
  const [activation, setActivation] = useState<string | null>(null);
  const [file, setFile] = useState<string | null>(null);
  const select = useCallback(
    (nodeId: string | null, activationId: string | null = null) => {
      setChosen(nodeId);
      setPicked(null);
      setActivation(activationId);
      if (nodeId) setTab("node");
    },
    [setTab],
  );
  const pick = useCallback(
    (node: PickedNode | null) => {
      select(null);
      setPicked(node);
      if (node) setTab("node");
    },
    [select, setTab],
  );
  const openFile = useCallback(
    (path: string) => {
      setFile(path);
      setTab("files");
    },
    [setTab],
  );
  const selected = chosen === undefined ? failed : chosen;
  return { ...tabs, selected, select, picked, pick, activation, setActivation, file, setFile, openFile };
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
