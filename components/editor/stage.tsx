"use client";

import { ViewportPortal } from "@xyflow/react";
import clsx from "clsx";
import { Plus } from "lucide-react";
import dynamic from "next/dynamic";
import { type KeyboardEvent, type ReactNode, useMemo } from "react";
import type { Dressing } from "@/components/canvas/flow-mapping";
import { GraphCanvas } from "@/components/canvas/graph-canvas";
import { COLUMN } from "@/components/canvas/layout/places";
import { subjectOf, useViewBeside } from "@/components/canvas/use-view-beside";
import { useWorkflowNames } from "@/components/forms/use-callable-workflows";
import { useNamedAgents } from "@/components/forms/use-named-agents";
import { isTyping } from "@/components/page/typing";
import { ContextMenu } from "@/components/ui/overlay/context-menu";
import { NARROW, useMedia } from "@/components/ui/use-media";
import type { RoleDefinition } from "@/server/domain/agent/role";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { withFolded } from "@/server/domain/graph/groups";
import { isStartNode } from "@/server/domain/graph/run-input";
import { type EditorCommands, useEditorCommands } from "./commands";
import { useEditor, useEditorStore } from "./editing/editor-store";
import { loneStart, placeOf } from "./editing/placing";
import { BreakpointList } from "./inspector/editor-breakpoints";
import { useIsInspectorShown } from "./inspector/use-is-inspector-shown";
import { commandFor, drawingCommandFromAfar, pressInConnectMode, pressOnSelection } from "./keys";
import { menuItems } from "./menu-items";
import { type UiStore, useUi, useUiStore } from "./ui-store";
import { ComparedBar, useComparedClasses } from "./versions/canvas-differences";

/** Asks for the first step while nothing follows the start. */
function FirstStep() {
  const start = useEditor(({ doc }) => loneStart(doc.graph));
  const graph = useEditor(({ doc }) => doc.graph);
  if (start === null) return null;
  const { x, y } = placeOf(graph, start);
  return (
    <ViewportPortal>
      <FirstStepButton
        // Including the edge from the start.
        className="nodrag nopan pointer-events-auto absolute w-52 before:pointer-events-none before:absolute before:right-full before:w-14 before:border-t-2 before:border-dashed before:border-line-strong"
        style={{ translate: `${x + COLUMN}px ${y}px` }}
      />
    </ViewportPortal>
  );
}

function FirstStepButton({ className, style }: { className: string; style?: React.CSSProperties }) {
  const commands = useEditorCommands();
  return (
    <button
      type="button"
      className={clsx(
        "flex h-18.5 items-center justify-center gap-2 rounded-2xl border-2 border-dashed border-line-strong bg-surface text-sm font-semibold hover:border-accent hover:text-accent",
        className,
      )}
      style={style}
      onClick={(event) => {
        const { left, top } = event.currentTarget.getBoundingClientRect();
        commands.openPicker({ client: { x: left, y: top } });
      }}
    >
      <Plus aria-hidden size={18} />
      Add first node
    </button>
  );
}

const TriggerCards = dynamic(
  () => import("@/components/triggers/trigger-cards").then((m) => m.TriggerCards),
  {
    ssr: false,
  },
);

function Triggers({ graph }: { graph: WorkflowGraph }) {
  const id = useEditor((state) => state.id);
  const store = useEditorStore();
  const start = Object.values(graph.nodes).find(isStartNode);
  if (!start) return null;
  const openStart = () => store.getState().select({ nodes: [start.id] });
  return <TriggerCards workflowId={id} graph={graph} at={placeOf(graph, start.id)} onMore={openStart} />;
}

const NodeList = dynamic(() => import("@/components/canvas/node-list").then((m) => m.NodeList), {
  ssr: false,
});
const ViewModeSwitch = dynamic(
  () => import("@/components/canvas/view-mode-switch").then((m) => m.ViewModeSwitch),
  {
    ssr: false,
  },
);
export const loadConnectBar = () => import("./panels/connect-bar");
const ConnectBar = dynamic(() => loadConnectBar().then((m) => m.ConnectBar), { ssr: false });
const GroupFrames = dynamic(() => import("./group-frames").then((m) => m.GroupFrames), { ssr: false });
const FindPanel = dynamic(() => import("./panels/find-panel").then((m) => m.FindPanel), { ssr: false });

/** The share of the canvas that the inspector covers on phones; keep in sync with editor.css. */
const SHEET = 0.7;

interface StageProps {
  roles: ReadonlyMap<string, RoleDefinition>;
  marks: Dressing["marks"];
}

/** The canvas and its panels; on phones, optionally the nodes as a list. */
export function Stage({ roles, marks }: StageProps) {
  const graph = useEditor(({ doc }) => doc.graph);
  const name = useEditor(({ doc }) => doc.name);
  const selection = useEditor((state) => state.selection);
  const store = useEditorStore();
  const ui = useUiStore();
  const commands = useEditorCommands();
  const connect = useUi((state) => state.connect);
  const agents = useNamedAgents(graph);
  const menu = useUi((state) => state.menu);
  const isFinding = useUi(({ find }) => find !== null);
  const workflows = useWorkflowNames(graph);
  const compared = useComparedClasses();
  const dressing = useMemo(
    () => ({ marks, workflows, classNames: connect ? targetClasses(graph, connect) : compared }),
    [marks, workflows, connect, graph, compared],
  );
  const shown = useMemo(() => withFolded(graph), [graph]);
  const isEmpty = Object.keys(graph.nodes).length === 0;
  const isNarrow = useMedia(NARROW);
  const viewMode = useUi((state) => state.viewMode);
  const viewModeSwitch = isNarrow && !isEmpty && (
    <ViewModeSwitch viewMode={viewMode} onChange={(next) => ui.setState({ viewMode: next })} />
  );
  const inset = useInspectorInset(shown);
  if (isNarrow && !isEmpty && viewMode === "list")
    return (
      <ListSection>
        {viewModeSwitch}
        <NodeList
          graph={graph}
          roles={roles}
          agents={agents}
          workflows={workflows}
          marks={marks}
          selected={selection.nodes}
          onPick={(id) => {
            store.getState().select({ nodes: [id] });
            ui.setState({ isInspectorOpen: true });
          }}
        />
      </ListSection>
    );
  return (
    <ContextMenu
      items={menuItems(menu, commands)}
      onOpenChange={(isOpen) => {
        if (!isOpen) ui.setState({ menu: null });
      }}
    >
      <section
        id="drawing"
        tabIndex={-1}
        aria-label="Canvas"
        className="relative min-w-0 flex-1 outline-none"
        onPointerMove={(event) => commands.pointAt({ x: event.clientX, y: event.clientY })}
        onPointerLeave={() => commands.pointAt(null)}
      >
        <GraphCanvas
          graph={shown}
          label={`${name} canvas. Arrow keys move between nodes, N adds a node, ? shows all shortcuts.`}
          roles={roles}
          agents={agents}
          editing={commands.editing}
          selection={selection}
          onSelectionChange={store.getState().changeSelection}
          dressing={dressing}
          insetRight={inset.right}
          insetBottom={inset.bottom}
          onKeyDown={(event) => pressOnCanvas(event, commands, ui)}
        >
          {graph.groups && graph.groups.length > 0 ? <GroupFrames graph={graph} marks={marks} /> : null}
          <FirstStep />
          <Triggers graph={graph} />
        </GraphCanvas>
        {viewModeSwitch}
        <ComparedBar />
        {isFinding && <FindPanel />}
        <BreakpointList />
        {connect && <ConnectBar insetRight={inset.right} />}
        {isEmpty && <EmptyHint />}
      </section>
    </ContextMenu>
  );
}

const EmptyHint = () => (
  <p className="pointer-events-none absolute inset-0 flex items-center justify-center px-6 text-center font-serif text-2xl text-ink-3">
    Double-click or press N to add the first node.
  </p>
);

function ListSection({ children }: { children: ReactNode }) {
  const hasOnlyStart = useEditor(({ doc }) => loneStart(doc.graph) !== null);
  return (
    <section
      id="drawing"
      tabIndex={-1}
      aria-label="Nodes"
      className="relative min-w-0 flex-1 scroll-pt-14 overflow-y-auto bg-stage outline-none"
    >
      {children}
      {hasOnlyStart && <FirstStepButton className="mx-2 w-[calc(100%-1rem)]" />}
      <BreakpointList />
    </section>
  );
}

/** How much of the canvas the inspector covers. Keeps the selection clear of it. */
function useInspectorInset(shown: WorkflowGraph): { right: number; bottom: number | undefined } {
  const { view } = useEditorCommands();
  const selection = useEditor((state) => state.selection);
  const isCovered = useIsInspectorShown();
  const isSideOpen = useUi((state) => state.side !== null);
  const inspectorWidth = useUi((state) => state.inspectorWidth);
  const isSheet = useMedia("(max-width: 640px)");
  const right = isCovered && !isSheet ? inspectorWidth : 0;
  const subject = useMemo(
    () => (isCovered ? subjectOf(shown, selection) : null),
    [isCovered, shown, selection],
  );
  useViewBeside(view, subject, `${isSideOpen} ${right}`);
  return { right, bottom: isCovered && isSheet ? SHEET : undefined };
}

function pressOnCanvas(event: KeyboardEvent<HTMLElement>, commands: EditorCommands, ui: UiStore) {
  const native = event.nativeEvent;
  if (pressInConnectMode(native, commands, ui)) {
    event.preventDefault();
    event.stopPropagation();
    return;
  }
  if (isTyping(event.target)) return;
  if (pressOnSelection(native, event.target, commands)) {
    event.preventDefault();
    return;
  }
  const isCanvas = event.target === event.currentTarget;
  const isCard = event.target instanceof HTMLElement && event.target.dataset.node !== undefined;
  // Tab and Enter act on a focused card. On the canvas and in its controls they keep their usual meaning.
  const command = isCanvas || isCard ? commandFor(native, "drawing") : drawingCommandFromAfar(native);
  if (!command || (isCanvas && (event.key === "Tab" || command.id === "open"))) return;
  event.preventDefault();
  command.run(commands, native);
}

function targetClasses(
  graph: WorkflowGraph,
  connect: { from: string; targets: readonly string[]; at: number },
) {
  const targets = new Set(connect.targets);
  return new Map(
    Object.keys(graph.nodes).flatMap((id): [string, string][] => {
      if (id === connect.targets[connect.at]) return [[id, "is-target-now"]];
      if (targets.has(id)) return [[id, "is-target"]];
      return id === connect.from ? [] : [[id, "is-aside"]];
    }),
  );
}
