"use client";

import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import { BreakpointsContext } from "@/components/canvas/breakpoint-context";
import { type ShellCommand, useHelpSection, useShellCommands } from "@/components/page/page-commands";
import { isTyping } from "@/components/page/typing";
import {
  type BreakpointStore,
  breakpointsFor,
  breakpointsOf,
  newBreakpointStore,
  removeSame,
} from "@/components/run/breakpoints/breakpoint-store";
import { newCanvasBreakpoints } from "@/components/run/breakpoints/canvas-breakpoints";
import type { RunViewStore } from "@/components/run/live/run-view-store";
import { useRun, useRunViewStore } from "@/components/run/run-context";
import { toast } from "@/components/ui/toasts";
import type { Breakpoint } from "@/server/domain/agent/breakpoint/breakpoint";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { type RunKey, runKeyFor, runKeys } from "./run-keys";
import { type RunControl, useControl, useIsActive, usePaused } from "./use-control";

interface Controlling extends RunControl {
  /** The breakpoints of this run. */
  breakpoints: BreakpointStore;
  /** The breakpoints of every run of this workflow that is started in this browser. */
  ofWorkflow: BreakpointStore;
  isListOpen: boolean;
  setListOpen(isOpen: boolean): void;
  /** Whether the dialog for a message to the agents is open. */
  isInstructing: boolean;
  setInstructing(isOpen: boolean): void;
  /** The node that keys and buttons are about. */
  selected: string | null;
  select(nodeId: string | null): void;
  /** Continues until just before a node. */
  runTo(nodeId: string): Promise<void>;
}

const ControlContext = createContext<Controlling | null>(null);

/** The controls of the run; null outside of a run's page. */
export const useControlling = (): Controlling | null => useContext(ControlContext);

/** Provides the controls of a run: breakpoints, keys and palette commands. */
export function RunControlProvider({
  runId,
  workflowId,
  children,
}: {
  runId: string;
  workflowId: string;
  children: ReactNode;
}) {
  const control = useControl(runId);
  const [breakpoints] = useState(() => newBreakpointStore(null));
  const ofWorkflow = breakpointsOf(workflowId);
  const [isListOpen, setListOpen] = useState(false);
  const [isInstructing, setInstructing] = useState(false);
  const [selected, select] = useState<string | null>(null);
  const runTo = useRunTo(control, breakpoints);
  const value: Controlling = {
    ...control,
    breakpoints,
    ofWorkflow,
    isListOpen,
    setListOpen,
    isInstructing,
    setInstructing,
    selected,
    select,
    runTo,
  };
  useSentBreakpoints(control, breakpoints);
  useRemovedEverywhere(breakpoints, ofWorkflow);
  useRunKeys(value);
  return (
    <ControlContext value={value}>
      <WithBreakpoints store={breakpoints}>{children}</WithBreakpoints>
    </ControlContext>
  );
}

function WithBreakpoints({ store, children }: { store: BreakpointStore; children: ReactNode }) {
  const run = useRunViewStore();
  const isActive = useIsActive();
  const value = useMemo(
    () =>
      run && isActive
        ? newCanvasBreakpoints(
            store,
            () => run.view.getState().head.graph,
            (place) => void store.toggle(place),
          )
        : null,
    [run, store, isActive],
  );
  return <BreakpointsContext value={value}>{children}</BreakpointsContext>;
}

const NO_GRAPH: WorkflowGraph | null = null;

/** Also removes a removed breakpoint from the workflow's list, so that the next run does not stop there again. */
function useRemovedEverywhere(store: BreakpointStore, ofWorkflow: BreakpointStore) {
  useEffect(
    () =>
      store.subscribe(({ list }, before) => {
        const left = new Set(list.map(({ id }) => id));
        for (const one of before.list) if (!left.has(one.id)) removeSame(ofWorkflow, one);
      }),
    [store, ofWorkflow],
  );
}

/** The list starts with the breakpoints of the run, and each change of it is sent to the run. */
function useSentBreakpoints({ setBreakpoints }: RunControl, store: BreakpointStore) {
  const run = useRunViewStore();
  const graph = useRun<WorkflowGraph | null>(({ head }) => head.graph, NO_GRAPH);
  const isActive = useIsActive();
  const send = useRef(setBreakpoints);
  useEffect(() => {
    send.current = setBreakpoints;
  });
  // A fork starts with the breakpoints of its original, then has its own.
  const forkSeq = useRun(({ head }) => head.run.forked ?? 0, 0);
  const adopted = useRef<number | null>(null);
  const isAdopting = useRef(false);
  useEffect(() => {
    if (!run || !isActive || adopted.current === forkSeq) return;
    adopted.current = forkSeq;
    // A change sends the whole list, so it must contain the run's own breakpoints.
    isAdopting.current = true;
    store.adopt(breakpointsOfRun(run).filter(({ once }) => !once));
    isAdopting.current = false;
  }, [run, isActive, forkSeq, store]);
  useEffect(() => {
    if (!run || !isActive || !graph) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let sent = JSON.stringify(breakpointsFor(store.getState().list, graph));
    const stop = store.subscribe(({ list }) => {
      const next = breakpointsFor(list, graph);
      if (JSON.stringify(next) === sent) return;
      sent = JSON.stringify(next);
      if (isAdopting.current) return;
      clearTimeout(timer);
      // A condition is sent unchecked; errors appear as a toast.
      timer = setTimeout(() => {
        const forOnce = breakpointsOfRun(run).filter(({ once }) => once);
        void send.current([...next, ...forOnce]).catch(() => undefined);
      }, SETTLED_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [run, isActive, graph, store]);
}

const SETTLED_MS = 400;

/** What the run has just now, those for once among them. */
const breakpointsOfRun = (run: RunViewStore): readonly Breakpoint[] =>
  run.view.getState().head.run.breakpoints ?? [];

/** Continues to a node, using a one-time breakpoint. */
function useRunTo({ setBreakpoints, resume }: RunControl, store: BreakpointStore) {
  const run = useRunViewStore();
  return async (nodeId: string) => {
    if (!run) return;
    const kept = breakpointsFor(store.getState().list, run.view.getState().head.graph);
    await setBreakpoints([...kept, { on: "node_start", node_id: nodeId, once: true }]);
    resume();
  };
}

/**
 * The keys of the list, wherever the focus is while nothing is being written; the palette and the help have them, too.
 */
function useRunKeys(controlling: Controlling) {
  const isActive = useIsActive();
  const isPaused = usePaused() !== null;
  const act = (id: RunKey["id"]) => {
    const { breakpoints, pause, resume, step, runTo, setListOpen, setInstructing, selected } = controlling;
    if (id === "pause") pause();
    else if (id === "resume") resume();
    else if (id === "step_node") step("node");
    else if (id === "step_turn") step("turn");
    else if (id === "breakpoints") setListOpen(true);
    else if (id === "instruct") setInstructing(true);
    else if (selected === null) toast("Select a node first");
    else if (id === "run_to") void runTo(selected).catch(() => undefined);
    else breakpoints.toggle({ kind: "node", id: selected });
  };
  const latest = useRef(act);
  useEffect(() => {
    latest.current = act;
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isTyping(event.target) || isInDialog(event.target)) return;
      const key = runKeyFor(event, { isActive, isPaused });
      if (!key) return;
      event.preventDefault();
      latest.current(key.id);
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [isActive, isPaused]);
  const commands = useMemo(
    (): ShellCommand[] =>
      !isActive
        ? []
        : runKeys
            .filter(({ when }) => when === "active" || (when === "paused") === isPaused)
            .map(({ id, label, keys }) => ({
              id: `run ${id}`,
              label,
              section: "This run",
              shortcut: keys,
              run: () => latest.current(id),
            })),
    [isActive, isPaused],
  );
  useShellCommands("run control", commands);
  useHelpSection(HELP);
}

const HELP = { title: "Run controls", shortcuts: runKeys.map(({ keys, label }) => ({ keys, label })) };

const isInDialog = (target: EventTarget | null) =>
  target instanceof Element &&
  !!target.closest("[role=dialog], [role=alertdialog], [role=menu], [role=listbox]");

export const useBreakpointCount = (store: BreakpointStore): number =>
  useStore(store, ({ list }) => list.length);
