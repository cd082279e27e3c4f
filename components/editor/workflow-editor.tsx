"use client";

import { useQuery } from "@tanstack/react-query";
import { CircleSlash2 } from "lucide-react";
import dynamic from "next/dynamic";
import { useRouter, useSearchParams } from "next/navigation";
import { type ComponentProps, useEffect, useMemo, useState } from "react";
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
const ExtractDialog = dynamic(() => import("./dialogs/extract-dialog").then((m) => m.ExtractDialog), {
  ssr: false,
});
const VersionsDialog = dynamic(() => import("./versions/versions-dialog").then((m) => m.VersionsDialog), {
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
  // Requested along with the workflow, so that both are there at once.
  useQuery(trpc.roles.list.queryOptions());
  if (error)
    return (
      <PageError
        icon={<CircleSlash2 />}
        title="Can't open this workflow"
        error={error}
        back={{ href: "/", label: "All workflows" }}
      />
    );
  if (!data)
    return (
      <div className="flex h-full items-center justify-center bg-stage text-ink-3">
        <Spinner size={20} label="Loading workflow…" />
      </div>
    );
  return <Editor key={id} initial={data} />;
}

let openings = 0;
const newOpening = () => ++openings;

/** The current workflow. Never from the cache of another page, since its revision decides what may be saved. */
function useNewest(id: string) {
  const [opening] = useState(newOpening);
  const trpc = useTrpcClient();
  return useQuery({
    queryKey: ["workflow to edit", id, opening],
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

/** Whether a workflow was just created: then missing parts are no mistakes. */
const isUntouched = ({ revision, graph }: Initial) => revision === 1 && Object.keys(graph.nodes).length <= 2;

/** From this width on, in pixels, the palette and the canvas both fit. */
const WIDE = 1680;

/** The side panel to open first: the palette if the workflow is almost empty, or the window wide. */
function firstSide({ nodes }: WorkflowGraph): "add" | null {
  if (window.innerWidth < 900) return null;
  return Object.keys(nodes).length <= 2 || window.innerWidth >= WIDE ? "add" : null;
}

/** Keeps the space of the side panel while it loads, so that the canvas doesn't jump. */
function SideFrame() {
  return <div className="w-62 shrink-0 border-r border-line bg-surface max-md:hidden" />;
}

/** How long network and processor belong to the canvas alone. */
const SETTLED_MS = 300;

const NO_ROLES: readonly RoleDefinition[] = [];

function Screen() {
  const trpc = useTrpc();
  const store = useEditorStore();
  const ui = useUiStore();
  const view = useCanvasView();
  const autosave = useAutosave(store);
  const [announcer] = useState(newAnnouncer);
  const importing = useDialog((close) => <ImportDialog onClose={close} />);
  const [commands] = useState(() =>
    newEditorCommands({
      store,
      ui,
      // The first one stays valid: it reads React Flow's store on each call.
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
  const { problems, setFound } = useShownProblems(graph);
  const isSideOpen = useUi(({ side }) => side !== null);
  const isInspectorWanted = useWasInspectorShown();
  const marks = useMemo(() => marksOf(problems), [problems]);

  const { isLaunching, launch } = useLaunching(commands);
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
  // The keys of the canvas work at once.
  useEffect(() => {
    if (document.activeElement === document.body) commands.view.focusDrawing(true);
  }, [commands]);
  const isAtRest = useIsAtRest();

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
        <Dialogs
          roles={roles ?? NO_ROLES}
          flush={autosave.flush}
          onSettled={autosave.settled.bind(autosave)}
        />
        <TryOutDialogs flush={autosave.flush} />
        {importing.dialog}
        <Live announcer={announcer} />
      </ProblemsContext.Provider>
    </CommandsContext.Provider>
  );
}

function Dialogs({
  roles,
  flush,
  onSettled,
}: {
  roles: readonly RoleDefinition[];
  flush: () => Promise<boolean>;
  onSettled: ComponentProps<typeof ConflictDialog>["onSettled"];
}) {
  const isPicking = useUi(({ picker }) => picker !== null);
  const isConflict = useEditor(({ save }) => save.state === "conflict");
  const hasIncoming = useUi(({ incoming }) => incoming !== null);
  const isUnfolding = useUi(({ unfold }) => unfold !== null);
  const isVersionsOpen = useUi((state) => state.isVersionsOpen);
  const isExtracting = useUi(({ extract }) => extract !== null);
  return (
    <>
      {isPicking && <QuickPicker roles={roles} />}
      {isConflict && <ConflictDialog onSettled={onSettled} />}
      {hasIncoming && <IncomingDialog />}
      {isUnfolding && <UnfoldDialog />}
      {isExtracting && <ExtractDialog />}
      {isVersionsOpen && <VersionsDialog flush={flush} />}
    </>
  );
}

function useShownProblems(graph: WorkflowGraph) {
  const [found, setFound] = useState(NO_PROBLEMS);
  const fresh = useUi((state) => state.fresh);
  const left = useUi((state) => state.left);
  const isNew = useUi((state) => state.isNew);
  const problems = useMemo(
    () => shownProblems(found, graph, { fresh, left, isNew }),
    [found, graph, fresh, left, isNew],
  );
  return { problems, setFound };
}

/** Whether the run dialog is open; `?run` opens it. */
function useLaunching(commands: EditorCommands) {
  const asksToRun = useSearchParams().has("run");
  const [isLaunching, setLaunching] = useState(asksToRun);
  const launch = (isOpen: boolean) => {
    if (isOpen) commands.callDue();
    else if (asksToRun) window.history.replaceState(null, "", window.location.pathname);
    setLaunching(isOpen);
  };
  return { isLaunching, launch };
}

/** True once the canvas has loaded; then preloads what a key or a click opens, so that the next keys go there. */
function useIsAtRest(): boolean {
  const [isAtRest, setAtRest] = useState(false);
  useEffect(
    () =>
      whenSettled(() => {
        setAtRest(true);
        void Promise.all([loadSchemas(), loadPicker(), loadInspector(), loadConnectBar(), loadSide()]);
        void loadSide().then(({ loadSideLists }) => loadSideLists());
      }, SETTLED_MS),
    [],
  );
  return isAtRest;
}

/** Stays mounted once shown: it may be asked to scroll to a field while hidden. */
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
      {/* A new element each time, so that a repeated text is announced again. */}
      <span key={nonce}>{text}</span>
    </div>
  );
}
