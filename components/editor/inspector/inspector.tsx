"use client";

import { X } from "lucide-react";
import dynamic from "next/dynamic";
import { type FocusEvent, type KeyboardEvent, useEffect, useRef } from "react";
import { Button } from "@/components/ui/button";
import { IconButton } from "@/components/ui/icon-button";
import { Skeleton } from "@/components/ui/skeleton";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { useEditorCommands } from "../commands";
import { useEditor, useEditorStore } from "../editing/editor-store";
import { useUi, useUiStore } from "../ui-store";
import { useIsInspectorShown } from "./use-is-inspector-shown";

const loading = () => (
  <div className="flex flex-col gap-4 p-4">
    <Skeleton className="h-8 w-full" />
    <Skeleton className="h-8 w-full" />
    <Skeleton className="h-24 w-full" />
  </div>
);
const NodeInspector = dynamic(() => import("./node-inspector").then((m) => m.NodeInspector), { loading });
const EdgeInspector = dynamic(() => import("./edge-inspector").then((m) => m.EdgeInspector), { loading });
const WorkflowInspector = dynamic(() => import("./workflow-inspector").then((m) => m.WorkflowInspector), {
  loading,
});

/** The settings of the selection, or else of the workflow, over the right side of the canvas. */
export function Inspector({ roles }: { roles: readonly RoleDefinition[] }) {
  const isShown = useIsInspectorShown();
  const store = useEditorStore();
  const width = useUi((ui) => ui.inspectorWidth);
  const ui = useUiStore();
  const commands = useEditorCommands();
  const panel = useRef<HTMLElement>(null);
  useGoTo(panel);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    const [picked] = commands.pickedNodes();
    ui.setState({ isInspectorOpen: false });
    event.preventDefault();
    if (picked) commands.focus(picked);
    else document.querySelector<HTMLElement>(".graph-canvas")?.focus();
  };

  const onBlur = ({ target, relatedTarget }: FocusEvent) => {
    const [picked, ...others] = commands.pickedNodes();
    const left = fieldOf(target);
    // A list that opens over a field is still the field.
    const isStill = relatedTarget instanceof Element && relatedTarget.closest(".popup") !== null;
    if (picked === undefined || others.length > 0 || left === undefined || isStill) return;
    if (fieldOf(relatedTarget) !== left) commands.leaveField(picked, left);
  };

  if (!isShown) return null;
  return (
    <aside
      ref={panel}
      onBlur={onBlur}
      aria-label="Settings"
      onKeyDown={onKeyDown}
      className="editor-inspector absolute z-20 flex flex-col border-l border-line bg-surface shadow-2"
      style={{ "--inspector-width": `${width}px` }}
    >
      <Grip />
      <IconButton
        label="Close settings"
        icon={<X aria-hidden />}
        size="sm"
        onClick={() => {
          ui.setState({ isInspectorOpen: false });
          store.getState().select({});
        }}
        className="absolute top-5 right-3 z-10 pointer-coarse:top-4"
      />
      <div className="min-h-0 flex-1 scroll-pt-16 overflow-y-auto overscroll-contain">
        <Content roles={roles} />
      </div>
    </aside>
  );
}

const fieldOf = (element: EventTarget | null) =>
  element instanceof Element ? element.closest<HTMLElement>("[data-field]")?.dataset.field : undefined;

function Content({ roles }: { roles: readonly RoleDefinition[] }) {
  const selection = useEditor((state) => state.selection);
  const [node, ...nodes] = selection.nodes;
  const [edge, ...edges] = selection.edges;
  const count = selection.nodes.size + selection.edges.size;
  if (node !== undefined && nodes.length === 0) return <NodeInspector id={node} roles={roles} />;
  if (edge !== undefined && edges.length === 0 && node === undefined)
    return <EdgeInspector id={edge} roles={roles} />;
  if (count > 0) return <Several nodes={selection.nodes.size} edges={selection.edges.size} />;
  return <WorkflowInspector />;
}

function Several({ nodes, edges }: { nodes: number; edges: number }) {
  const commands = useEditorCommands();
  return (
    <div className="flex flex-col gap-4 p-4">
      <h2 className="pr-8 text-[13px] font-semibold">
        {nodes} {nodes === 1 ? "node" : "nodes"}
        {edges > 0 ? `, ${edges} ${edges === 1 ? "connection" : "connections"}` : ""}
      </h2>
      <div className="flex flex-wrap gap-2">
        <Button size="sm" onClick={commands.duplicate} disabled={nodes === 0}>
          Duplicate
        </Button>
        <Button size="sm" onClick={() => void commands.tidy()} disabled={nodes < 2}>
          Auto-layout
        </Button>
        <Button size="sm" onClick={commands.group} disabled={nodes === 0}>
          Group
        </Button>
        <Button size="sm" onClick={commands.extract} disabled={nodes === 0}>
          Extract to workflow
        </Button>
        <Button size="sm" variant="danger" onClick={commands.remove}>
          Delete
        </Button>
      </div>
    </div>
  );
}

/** Scrolls to a requested field, expands its section and focuses it. */
function useGoTo(panel: React.RefObject<HTMLElement | null>) {
  const goTo = useUi((ui) => ui.goTo);
  useEffect(() => {
    if (!goTo) return;
    let tries = 40;
    let frame = 0;
    // The inspector's parts load on demand, so the field may come a little later.
    const focusField = () => {
      const root = goTo.field.split(".")[0] ?? "";
      const found = panel.current?.querySelector<HTMLElement>(
        root ? `[data-field="${CSS.escape(root)}"]` : "[data-field]",
      );
      const control = found?.querySelector<HTMLElement>(
        "input, textarea, [contenteditable=true], button, [role=combobox]",
      );
      if (control) {
        for (let fold = found?.closest("details"); fold; fold = fold.parentElement?.closest("details"))
          fold.open = true;
        control.focus({ preventScroll: true });
        if (root === "name" && control instanceof HTMLInputElement) control.select();
        found?.scrollIntoView({ block: "nearest" });
      } else if (tries > 0) {
        tries -= 1;
        frame = requestAnimationFrame(focusField);
      }
    };
    frame = requestAnimationFrame(focusField);
    return () => cancelAnimationFrame(frame);
  }, [goTo, panel]);
}

/** The line at its left side that makes it wider or narrower. */
function Grip() {
  const ui = useUiStore();
  const width = useUi((state) => state.inspectorWidth);
  const from = useRef<{ x: number; width: number } | null>(null);
  const set = (next: number) => ui.setState({ inspectorWidth: Math.min(640, Math.max(300, next)) });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that moves is a control
    <div
      role="separator"
      tabIndex={0}
      aria-label="Settings width"
      aria-orientation="vertical"
      aria-valuenow={width}
      aria-valuemin={300}
      aria-valuemax={640}
      className="absolute inset-y-0 -left-1 z-10 w-2 cursor-col-resize hover:bg-accent/25 max-lg:hidden"
      onPointerDown={(event) => {
        from.current = { x: event.clientX, width };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (from.current) set(from.current.width + from.current.x - event.clientX);
      }}
      onPointerUp={() => {
        from.current = null;
      }}
      onKeyDown={(event) => {
        if (event.key === "ArrowLeft") set(width + 16);
        else if (event.key === "ArrowRight") set(width - 16);
      }}
    />
  );
}
