"use client";

import { useQuery } from "@tanstack/react-query";
import { CircleSlash2 } from "lucide-react";
import dynamic from "next/dynamic";
import { useRouter, useSearchParams } from "next/navigation";
import { useEffect, useMemo, useState } from "react";
import { useStore } from "zustand";
import { CanvasProvider } from "@/components/canvas/graph-canvas";
import { useCanvasView } from "@/components/canvas/use-canvas-view";
import { LibrarySheets } from "@/components/library/library-sheets";
import { PageError } from "@/components/page/error-text";
import { breakpointsOf } from "@/components/run/breakpoints/breakpoint-store";
import { tryOutsOf } from "@/components/run/try-out/try-out-store";
import { useTrpc, useTrpcClient } from "@/components/trpc";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import { Spinner } from "@/components/ui/spinner";
import { whenSettled } from "@/components/ui/when-idle";
import type { RoleDefinition } from "@/server/domain/agent/role";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { newAnnouncer } from "./announcer";
import { CommandsContext, type EditorCommands, newEditorCommands } from "./commands";
import { EditorContext, newEditorStore, useEditor, useEditorStore } from "./editing/editor-store";
import { loadSchemas, useAutosave } from "./editing/use-autosave";
import { useClipboard } from "./editing/use-clipboard";
import { WithBreakpoints } from "./inspector/editor-breakpoints";
import { TryOutDialogs, WithTryOuts } from "./inspector/editor-try-outs";
import { useIsInspectorShown } from "./inspector/use-is-inspector-shown";
import { TopBar } from "./panels/top-bar";
import { loadConnectBar, Stage } from "./stage";
import { newUiStore, UiContext, useUi, useUiStore } from "./ui-store";
import { useFirstLayout } from "./use-first-layout";
import { useOffers } from "./use-offers";
import { marksOf, NO_PROBLEMS, ProblemsContext, shownProblems } from "./use-problems";
import { useWindowKeys } from "./use-window-keys";
import "./editor.css";

const loadSide = () => import("./panels/side-panel");
const SidePanel = dynamic(() => loadSide().then((m) => m.SidePanel), { ssr: false, loading: SideFrame });
const ProblemFinder = dynamic(() => import("./problem-finder").then((m) => m.ProblemFinder), { ssr: false });
const loadPicker = () => import("./panels/quick-picker");
const QuickPicker = dynamic(() => loadPicker().then((m) => m.QuickPicker), { ssr: false });
const loadInspector = () => import("./inspector/inspector");
const Inspector = dynamic(() => loadInspector().then((m) => m.Inspector), { ssr: false });
const ConflictDialog = dynamic(() => import("./dialogs/conflict-dialog").then((m) => m.ConflictDialog), {
  ssr: false,
});
const IncomingDialog = dynamic(() => import("./dialogs/incoming-dialog").then((m) => m.IncomingDialog), {
  ssr: false,
});
const UnfoldDialog = dynamic(() => import("./dialogs/unfold-dialog").then((m) => m.UnfoldDialog), {
  ssr: false,
});
const ImportDialog = dynamic(
  () => import("@/components/import-export/import-dialog").then((m) => m.ImportDialog),
  {
    ssr: false,
  },
);

/** The editor of one workflow. */
export function WorkflowEditor({ id }: { id: string }) {
  const trpc = useTrpc();
  const { data, error } = useNewest(id);
  // Asked for along with the drawing, so that they are there when it is.
  useQuery(trpc.roles.list.queryOptions());
  if (error)
    return (
      <PageError
        icon={<CircleSlash2 />}
        title="This workflow cannot be shown"
        error={error}
        back={{ href: "/", label: "All workflows" }}
      />
    );
  if (!data)
    return (
      <div className="flex h-full items-center justify-center bg-stage text-ink-3">
        <Spinner size={20} label="Loading the workflow" />
      </div>
    );
  return <Editor key={id} initial={data} />;
}

let openings = 0;
const newOpening = () => ++openings;

/**
 * The workflow as it is now. Each opening has an answer of its own, never one that another page left in the cache: the
 * revision decides what may be saved.
 */
function useNewest(id: string) {
  const [opening] = useState(newOpening);
  const trpc = useTrpcClient();
  return useQuery({
    queryKey: ["drawing to edit", id, opening],
    queryFn: ({ signal }) => trpc.workflows.get.query({ id }, { signal }),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
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

const NO_ROLES: readonly RoleDefinition[] = [];

function Screen() {
  const trpc = useTrpc();
  const store = useEditorStore();
  const ui = useUiStore();
  const view = useCanvasView();
  const autosave = useAutosave(store);
  const [announcer] = useState(newAnnouncer);
  const asksToRun = useSearchParams().has("run");
  const [isLaunching, setLaunching] = useState(asksToRun);
  const importing = useDialog((close) => <ImportDialog onClose={close} />);
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
    else if (asksToRun) window.history.replaceState(null, "", window.location.pathname);
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
  useFirstLayout();
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
            onImport={importing.open}
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
        {importing.dialog}
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
