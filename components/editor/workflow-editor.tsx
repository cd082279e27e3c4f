"use client";

import { useQuery } from "@tanstack/react-query";
import { CircleSlash2 } from "lucide-react";
import dynamic from "next/dynamic";
import { useRouter, useSearchParams } from "next/navigation";
import { useEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import type { Dressing } from "@/components/canvas/flow-mapping";
import { CanvasProvider, GraphCanvas } from "@/components/canvas/graph-canvas";
import { isTyping } from "@/components/canvas/hits";
import { readingOrder } from "@/components/canvas/navigation";
import { useCanvasView } from "@/components/canvas/use-canvas-view";
import type { Selection } from "@/components/canvas/use-flow";
import { useNamedAgents } from "@/components/forms/use-named-agents";
import { LibrarySheets } from "@/components/library/library-sheets";
import { type ShellCommand, useHelpSection, useShellCommands } from "@/components/page/page-commands";
import { breakpointsOf } from "@/components/run/breakpoints/breakpoint-store";
import { tryOutsOf } from "@/components/run/try-out/try-out-store";
import { toApiError, useTrpc } from "@/components/trpc";
import { ButtonLink } from "@/components/ui/button";
import { ContextMenu } from "@/components/ui/context-menu";
import { EmptyState } from "@/components/ui/empty-state";
import { Spinner } from "@/components/ui/spinner";
import { NARROW, useMedia } from "@/components/ui/use-media";
import { whenSettled } from "@/components/ui/when-idle";
import type { RoleDefinition } from "@/server/domain/agent/role";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { withFolded } from "@/server/domain/graph/groups";
import { newAnnouncer } from "./announcer";
import { BreakpointList, WithBreakpoints } from "./breakpoints-here";
import { CommandsContext, type EditorCommands, newEditorCommands, useEditorCommands } from "./commands";
import { EditorContext, newEditorStore, useEditor, useEditorStore } from "./editor-store";
import { edits } from "./edits";
import {
  commandFor,
  directions,
  drawingCommandFromAfar,
  keyCommands,
  moreKeys,
  pressInConnectMode,
} from "./keys";
import { menuItems } from "./menu-items";
import { TopBar } from "./top-bar";
import { TryOutDialogs, WithTryOuts } from "./try-outs-here";
import { newUiStore, UiContext, type UiStore, useUi, useUiStore } from "./ui-store";
import { loadSchemas, useAutosave } from "./use-autosave";
import { useIsInspectorShown } from "./use-is-inspector-shown";
import { marksOf, NO_PROBLEMS, ProblemsContext, shownProblems } from "./use-problems";
import "./editor.css";

const loadSide = () => import("./side-panel");
const SidePanel = dynamic(() => loadSide().then((m) => m.SidePanel), { ssr: false, loading: SideFrame });
const ProblemFinder = dynamic(() => import("./problem-finder").then((m) => m.ProblemFinder), { ssr: false });
const loadPicker = () => import("./quick-picker");
const QuickPicker = dynamic(() => loadPicker().then((m) => m.QuickPicker), { ssr: false });
const NodeList = dynamic(() => import("@/components/canvas/node-list").then((m) => m.NodeList), {
  ssr: false,
});
const LookSwitch = dynamic(() => import("@/components/canvas/look-switch").then((m) => m.LookSwitch), {
  ssr: false,
});
const loadInspector = () => import("./inspector");
const Inspector = dynamic(() => loadInspector().then((m) => m.Inspector), { ssr: false });
const loadConnectBar = () => import("./connect-bar");
const ConnectBar = dynamic(() => loadConnectBar().then((m) => m.ConnectBar), { ssr: false });
const GroupFrames = dynamic(() => import("./group-frames").then((m) => m.GroupFrames), { ssr: false });
const FindPanel = dynamic(() => import("./find-panel").then((m) => m.FindPanel), { ssr: false });
const ConflictDialog = dynamic(() => import("./conflict-dialog").then((m) => m.ConflictDialog), {
  ssr: false,
});
const IncomingDialog = dynamic(() => import("./incoming-dialog").then((m) => m.IncomingDialog), {
  ssr: false,
});
const UnfoldDialog = dynamic(() => import("./unfold-dialog").then((m) => m.UnfoldDialog), { ssr: false });
const ImportDialog = dynamic(
  () => import("@/components/import-export/import-dialog").then((m) => m.ImportDialog),
  {
    ssr: false,
  },
);

/** The editor of one workflow. */
export function WorkflowEditor({ id }: { id: string }) {
  const trpc = useTrpc();
  // Never from an old cache: the revision decides what may be saved.
  const { data, error } = useQuery({
    ...trpc.workflows.get.queryOptions({ id }),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  // Asked for along with the drawing, so that they are there when it is.
  useQuery(trpc.roles.list.queryOptions());
  if (error)
    return (
      <EmptyState
        icon={<CircleSlash2 />}
        isPage
        title="This workflow cannot be shown"
        className="h-full justify-center"
        actions={
          <ButtonLink href="/" variant="primary">
            All workflows
          </ButtonLink>
        }
      >
        {toApiError(error).message}
      </EmptyState>
    );
  if (!data)
    return (
      <div className="flex h-full items-center justify-center bg-stage text-ink-3">
        <Spinner size={20} label="Loading the workflow" />
      </div>
    );
  return <Editor key={id} initial={data} />;
}

interface Initial {
  id: string;
  name: string;
  revision: number;
  graph: WorkflowGraph;
}

function Editor({ initial }: { initial: Initial }) {
  const [store] = useState(() => newEditorStore(initial));
  const [ui] = useState(() => newUiStore(firstSide(initial.graph), isUntouched(initial)));
  return (
    <EditorContext.Provider value={store}>
      <UiContext.Provider value={ui}>
        <CanvasProvider>
          <LibrarySheets>
            <Screen />
          </LibrarySheets>
        </CanvasProvider>
      </UiContext.Provider>
    </EditorContext.Provider>
  );
}

/** Just begun, and nothing drawn yet: what is missing then is no mistake. */
const isUntouched = ({ revision, graph }: Initial) => revision === 1 && Object.keys(graph.nodes).length <= 2;

/** From here on the palette takes no room that a drawing needs. */
const WIDE = 1680;

/** What stands beside the drawing at first: the palette where there is still much to add, or room for it. */
function firstSide({ nodes }: WorkflowGraph): "add" | null {
  if (window.innerWidth < 900) return null;
  return Object.keys(nodes).length <= 2 || window.innerWidth >= WIDE ? "add" : null;
}

/** The room of the side panel until it is there, so that the drawing begins where it stays. */
function SideFrame() {
  return <div className="w-62 shrink-0 border-r border-line bg-surface max-md:hidden" />;
}

/** Until then the drawing itself has what there is of the network and the processor. */
const SETTLED_MS = 300;

/** How long the second click of a double click may take. */
const DOUBLE_CLICK_MS = 400;

const NO_ROLES: readonly RoleDefinition[] = [];

function Screen() {
  const trpc = useTrpc();
  const store = useEditorStore();
  const ui = useUiStore();
  const view = useCanvasView();
  const autosave = useAutosave(store);
  const [announcer] = useState(newAnnouncer);
  const [isLaunching, setLaunching] = useState(false);
  const [isImporting, setImporting] = useState(false);
  const [commands] = useState(() =>
    newEditorCommands({
      store,
      ui,
      // The first one serves for good: it reads React Flow's store whenever it is asked.
      view,
      announcer,
      breakpoints: breakpointsOf(store.getState().id),
      tryOuts: tryOutsOf(store.getState().id),
      saveNow: () => void autosave.flush(),
    }),
  );

  const roleList = useQuery(trpc.roles.list.queryOptions());
  const roles = useMemo(() => roleList.data?.map(({ role }) => role), [roleList.data]);
  const rolesByName = useMemo(() => new Map(roles?.map((role) => [role.name, role])), [roles]);
  const graph = useEditor(({ doc }) => doc.graph);
  const [found, setFound] = useState(NO_PROBLEMS);
  const fresh = useUi((state) => state.fresh);
  const left = useUi((state) => state.left);
  const isNew = useUi((state) => state.isNew);
  const problems = useMemo(
    () => shownProblems(found, graph, { fresh, left, isNew }),
    [found, graph, fresh, left, isNew],
  );
  const isSideOpen = useUi(({ side }) => side !== null);
  const isPicking = useUi(({ picker }) => picker !== null);
  const hasIncoming = useUi(({ incoming }) => incoming !== null);
  const isInspectorWanted = useWasInspectorShown();
  const isUnfolding = useUi(({ unfold }) => unfold !== null);
  const isConflict = useEditor(({ save }) => save.state === "conflict");
  const marks = useMemo(() => marksOf(problems), [problems]);

  const launch = (isOpen: boolean) => {
    if (isOpen) commands.callDue();
    setLaunching(isOpen);
  };
  useWindowKeys({ onRun: () => launch(true) }, commands);
  useClipboard(commands);
  const router = useRouter();
  useOffers(
    commands,
    () => launch(true),
    (asked) =>
      void autosave.flush().then(() => router.push(`/workflows/${store.getState().id}/tests${asked}`)),
  );
  usePlaces();
  useAskedNode(commands);
  // Whoever opens a drawing can draw at once.
  useEffect(() => {
    if (document.activeElement === document.body) commands.view.focusDrawing(true);
  }, [commands]);
  const [isAtRest, setAtRest] = useState(false);
  // A key or a click opens these, and the next keys belong into them. The drawing itself comes first.
  useEffect(
    () =>
      whenSettled(() => {
        setAtRest(true);
        void Promise.all([loadSchemas(), loadPicker(), loadInspector(), loadConnectBar(), loadSide()]);
        void loadSide().then(({ loadSideLists }) => loadSideLists());
      }, SETTLED_MS),
    [],
  );

  return (
    <CommandsContext.Provider value={commands}>
      <ProblemsContext.Provider value={problems}>
        <div className="flex h-full min-h-0 flex-col">
          <TopBar
            flush={autosave.flush}
            isLaunching={isLaunching}
            onLaunchingChange={launch}
            onImport={() => setImporting(true)}
          />
          <div className="relative flex min-h-0 flex-1">
            {isSideOpen && <SidePanel roles={roles ?? NO_ROLES} />}
            <WithBreakpoints>
              <WithTryOuts>
                <Stage roles={rolesByName} marks={marks} />
              </WithTryOuts>
            </WithBreakpoints>
            {isInspectorWanted && <Inspector roles={roles ?? NO_ROLES} />}
          </div>
        </div>
        {isAtRest && roles && <ProblemFinder graph={graph} roles={roles} onFound={setFound} />}
        {isPicking && <QuickPicker roles={roles ?? NO_ROLES} />}
        {isConflict && <ConflictDialog onSettled={autosave.settled.bind(autosave)} />}
        {hasIncoming && <IncomingDialog />}
        {isUnfolding && <UnfoldDialog />}
        <TryOutDialogs flush={autosave.flush} />
        {isImporting && <ImportDialog onClose={() => setImporting(false)} />}
        <Live announcer={announcer} />
      </ProblemsContext.Provider>
    </CommandsContext.Provider>
  );
}

/** Once it was shown it stays: hidden, it still knows what it was asked to bring into view. */
function useWasInspectorShown(): boolean {
  const isShown = useIsInspectorShown();
  const [was, setWas] = useState(isShown);
  if (isShown && !was) setWas(true);
  return was;
}

interface StageProps {
  roles: ReadonlyMap<string, RoleDefinition>;
  marks: Dressing["marks"];
}

function Stage({ roles, marks }: StageProps) {
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
  const dressing = useMemo(
    () => ({ marks, classNames: connect ? targetClasses(graph, connect) : undefined }),
    [marks, connect, graph],
  );
  const shown = useMemo(() => withFolded(graph), [graph]);
  const isEmpty = Object.keys(graph.nodes).length === 0;
  const isNarrow = useMedia(NARROW);
  const look = useUi((state) => state.look);
  const lookSwitch = isNarrow && !isEmpty && (
    <LookSwitch look={look} onChange={(next) => ui.setState({ look: next })} />
  );
  const isCovered = useIsInspectorShown();
  const isSideOpen = useUi((state) => state.side !== null);
  const inspectorWidth = useUi((state) => state.inspectorWidth);
  const insetRight = isCovered && window.innerWidth > 640 ? inspectorWidth : 0;
  const picked = placesPicked(graph, selection).join("\n");
  useEffect(() => {
    if (!isCovered || picked === "") return;
    // What is clicked twice stays under the pointer until the second click.
    const timer = setTimeout(() => commands.view.uncover(picked.split("\n")), DOUBLE_CLICK_MS);
    return () => clearTimeout(timer);
  }, [isCovered, isSideOpen, picked, commands]);
  if (isNarrow && !isEmpty && look === "list")
    return (
      <section
        id="drawing"
        tabIndex={-1}
        aria-label="Nodes"
        className="relative min-w-0 flex-1 scroll-pt-14 overflow-y-auto bg-stage outline-none"
      >
        {lookSwitch}
        <NodeList
          graph={graph}
          roles={roles}
          agents={agents}
          marks={marks}
          selected={selection.nodes}
          onPick={(id) => {
            store.getState().select({ nodes: [id] });
            ui.setState({ isInspectorOpen: true });
          }}
        />
        <BreakpointList />
      </section>
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
        aria-label="Drawing"
        className="relative min-w-0 flex-1 outline-none"
        onPointerMove={(event) => commands.pointAt({ x: event.clientX, y: event.clientY })}
        onPointerLeave={() => commands.pointAt(null)}
      >
        <GraphCanvas
          graph={shown}
          label={`Drawing of ${name}. Arrow keys walk from node to node, N adds one, question mark shows all keys.`}
          roles={roles}
          agents={agents}
          editing={commands.editing}
          selection={selection}
          onSelectionChange={store.getState().changeSelection}
          dressing={dressing}
          insetRight={insetRight}
          onKeyDown={(event) => {
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
            // Tab on the drawing as a whole goes on to the next part of the page; on a node it adds one.
            if (event.key === "Tab" && (event.shiftKey || event.target === event.currentTarget)) return;
            const command = commandFor(native, "drawing");
            if (!command || (command.id === "open" && event.target === event.currentTarget)) return;
            event.preventDefault();
            command.run(commands, native);
          }}
        >
          {graph.groups && graph.groups.length > 0 ? <GroupFrames graph={graph} marks={marks} /> : null}
        </GraphCanvas>
        {lookSwitch}
        {isFinding && <FindPanel />}
        <BreakpointList />
        {connect && <ConnectBar insetRight={insetRight} />}
        {isEmpty && (
          <p className="pointer-events-none absolute inset-0 flex items-center justify-center px-6 text-center font-serif text-2xl text-ink-3">
            An empty stage. Double-click, or press N, to add the first node.
          </p>
        )}
      </section>
    </ContextMenu>
  );
}

/** The nodes where what is picked lies: the first one of nodes, both ends of a connection. */
function placesPicked(graph: WorkflowGraph, { nodes, edges }: Selection): string[] {
  const [node] = nodes;
  if (node !== undefined) return [node];
  const [edgeId] = edges;
  const edge = graph.edges.find(({ id }) => id === edgeId);
  return edge ? [edge.source_node_id, edge.target_node_id] : [];
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

/** Keys that work wherever the focus is, as long as nothing is being written. */
function useWindowKeys({ onRun }: { onRun: () => void }, commands: EditorCommands) {
  const ui = useUiStore();
  const run = useRef(onRun);
  useEffect(() => {
    run.current = onRun;
  }, [onRun]);
  useEffect(() => {
    // A text that nobody has touched yet has nothing to take back: the drawing's own undo is meant.
    let untouched: { field: EventTarget | null; value: string } = { field: null, value: "" };
    const onFocus = ({ target }: FocusEvent) => {
      untouched = { field: target, value: textIn(target) };
    };
    const isUntouched = (target: EventTarget | null) =>
      target === untouched.field && textIn(target) === untouched.value;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isInDialog(event.target)) return;
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        run.current();
        return;
      }
      if (!isTyping(event.target) && pressFromAfar(event, commands, ui)) return event.preventDefault();
      const command = commandFor(event, "editor");
      if (!command) return;
      const isHistory = command.id === "undo" || command.id === "redo";
      const isAllowed =
        command.id === "save" || command.id === "find" || (isHistory && isUntouched(event.target));
      if (isTyping(event.target) && !isAllowed) return;
      event.preventDefault();
      command.run(commands, event);
    };
    window.addEventListener("keydown", onKeyDown);
    window.addEventListener("focusin", onFocus);
    return () => {
      window.removeEventListener("keydown", onKeyDown);
      window.removeEventListener("focusin", onFocus);
    };
  }, [commands, ui]);
}

/** Keys of the drawing pressed beside it, such as on a button or on nothing at all. True: the key was taken. */
function pressFromAfar(event: KeyboardEvent, commands: EditorCommands, ui: UiStore): boolean {
  if (pressInConnectMode(event, commands, ui)) return true;
  const command = drawingCommandFromAfar(event);
  if (command) command.run(commands, event);
  // Arrows mean something to tabs and sliders; to nothing at all they mean the drawing.
  const isFree =
    event.target === document.body ||
    (event.target instanceof Element && ["main", "drawing"].includes(event.target.id));
  if (!command && isFree && event.key.startsWith("Arrow") && !event.altKey) {
    const [picked] = commands.pickedNodes();
    if (picked) commands.focus(picked);
    else commands.view.focusDrawing();
    return true;
  }
  return command !== null;
}

/** Space takes the node under the keyboard into the selection; arrows go from a connection to its ends. */
function pressOnSelection(event: KeyboardEvent, target: EventTarget, commands: EditorCommands): boolean {
  const way = directions[event.key as keyof typeof directions];
  const isPlain = !event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (way && isPlain) return commands.leaveEdge(way);
  const id = target instanceof HTMLElement ? target.dataset.node : undefined;
  // The card of a collapsed group is none of the drawing's nodes: its keys open it.
  if (id !== undefined && isPlain && ["Enter", " "].includes(event.key) && commands.isGroup(id)) {
    commands.foldGroup(id);
    return true;
  }
  if (event.key !== " " || id === undefined || !isPlain) return false;
  commands.toggle(id);
  return true;
}

const textIn = (target: EventTarget | null) =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement ? target.value : "";

/** The clipboard's own events: they work on plain HTTP too, where the modern way does not exist. */
function useClipboard(commands: EditorCommands) {
  useEffect(() => {
    const isOurs = (event: ClipboardEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      const isTextPicked = (document.getSelection()?.toString() ?? "") !== "";
      return (
        !isTyping(event.target) &&
        !isInDialog(event.target) &&
        !isTextPicked &&
        !!(
          target === document.body || target?.closest(".graph-canvas, .editor-side, .editor-inspector, main")
        )
      );
    };
    const onCopy = (event: ClipboardEvent) => {
      if (isOurs(event) && event.clipboardData && commands.copy(event.clipboardData)) event.preventDefault();
    };
    const onCut = (event: ClipboardEvent) => {
      if (!isOurs(event) || !event.clipboardData || !commands.copy(event.clipboardData)) return;
      event.preventDefault();
      commands.remove();
    };
    const onPaste = (event: ClipboardEvent) => {
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (isTyping(event.target) || isInDialog(event.target) || !text) return;
      if (commands.paste(text)) event.preventDefault();
    };
    document.addEventListener("copy", onCopy);
    document.addEventListener("cut", onCut);
    document.addEventListener("paste", onPaste);
    return () => {
      document.removeEventListener("copy", onCopy);
      document.removeEventListener("cut", onCut);
      document.removeEventListener("paste", onPaste);
    };
  }, [commands]);
}

const isInDialog = (target: EventTarget | null) =>
  target instanceof Element &&
  !!target.closest("[role=dialog], [role=alertdialog], [role=menu], [role=listbox]");

/** The same list feeds the keys, the help and the command palette. */
function useOffers(commands: EditorCommands, onRun: () => void, onTests: (asked: string) => void) {
  const [offers] = useState((): ShellCommand[] => [
    { id: "run", label: "Run this workflow", section: "This workflow", shortcut: "mod+Enter", run: onRun },
    {
      id: "workflow settings",
      label: "Settings of this workflow",
      section: "This workflow",
      keywords: "limits state budget",
      run: commands.openWorkflowSettings,
    },
    {
      id: "workflow tests",
      label: "Tests of this workflow",
      section: "This workflow",
      keywords: "scenario expectations",
      run: () => onTests(""),
    },
    {
      id: "run workflow tests",
      label: "Run the tests of this workflow",
      section: "This workflow",
      keywords: "scenario check",
      run: () => onTests("?run"),
    },
    ...keyCommands
      .filter(({ isKeyOnly }) => !isKeyOnly)
      .map(({ id, label, keys, run }) => ({
        id: `editor ${id}`,
        label,
        section: "This workflow",
        shortcut: keys.split(" ")[0] ?? "",
        run: () => run(commands),
      })),
  ]);
  const [help] = useState(() => ({
    title: "Drawing",
    shortcuts: [
      ...moreKeys,
      ...keyCommands.map(({ label, keys }) => ({ label, keys: keys.split(" ").slice(0, 2).join(" ") })),
    ],
  }));
  useShellCommands("editor", offers);
  useShellCommands("drawing", useNodeOffers(commands));
  useHelpSection(help);
}

/** The nodes of this drawing, to be found by their names. */
function useNodeOffers(commands: EditorCommands): readonly ShellCommand[] {
  const names = useEditor(({ doc }) =>
    JSON.stringify(Object.values(doc.graph.nodes).map(({ id, name, node_type }) => [id, name || node_type])),
  );
  return useMemo(
    () =>
      (JSON.parse(names) as [string, string][]).map(([id, name]) => ({
        id: `node ${id}`,
        label: name,
        section: "In this drawing",
        keywords: id,
        run: () => commands.showNode(id),
      })),
    [names, commands],
  );
}

const tidyPlaces = (graph: WorkflowGraph) =>
  import("@/components/canvas/layout").then(({ layout }) => layout(graph));

/** Files that say no places are tidied up when they are first opened; that is no step to take back. */
function usePlaces() {
  const store = useEditorStore();
  const view = useCanvasView();
  const open = useRef(view.open);
  useEffect(() => {
    const { graph } = store.getState().doc;
    if (Object.values(graph.nodes).every(({ ui }) => ui)) return;
    void tidyPlaces(graph).then((places) => {
      const { doc, revision } = store.getState();
      if (!places || doc.graph !== graph) return;
      const placed = { ...doc, graph: edits.layout.apply(graph, { places }) };
      store.getState().adopt(placed, revision);
      requestAnimationFrame(() => open.current(readingOrder(graph)[0], true));
    });
  }, [store]);
}

/** Links from runs and problems lead to a node: `?node=review`. */
function useAskedNode(commands: EditorCommands) {
  const store = useEditorStore();
  const asked = useSearchParams().get("node");
  useEffect(() => {
    if (asked === null) return;
    store
      .getState()
      .select(store.getState().doc.graph.nodes[asked] ? { nodes: [asked] } : { edges: [asked] });
    const timer = setTimeout(() => commands.view.center(asked), 300);
    return () => clearTimeout(timer);
  }, [asked, commands, store]);
}

function Live({ announcer }: { announcer: ReturnType<typeof newAnnouncer> }) {
  const { text, nonce } = useStore(announcer);
  return (
    <div role="status" aria-live="polite" className="sr-only">
      {/* A new element for each, so that the same words are said again. */}
      <span key={nonce}>{text}</span>
    </div>
  );
}
