"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { CARD_WIDTH } from "@/components/canvas/cards/card-size";
import { layout } from "@/components/canvas/layout/layout";
import { countOf } from "@/components/display/format";
import { FindingList } from "@/components/import-export/finding-list";
import { useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/overlay/dialog";
import { Spinner } from "@/components/ui/spinner";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { unfoldCrew } from "@/server/domain/graph/unfold/unfold";
import type { Unfolding } from "@/server/domain/graph/unfold/unfolded";
import { isAgentNode, isCrewNode, isExecutable } from "@/server/domain/nodes";
import { useEditorCommands } from "../commands";
import { useEditor, useEditorStore } from "../editing/editor-store";
import { edits } from "../editing/edits";
import { type Place, placeOf } from "../editing/placing";
import { useUi, useUiStore } from "../ui-store";

const UNFOLD = { ...edits.replace, id: "unfold_crew", label: "Expand into nodes" };

/** Puts the nodes that do the same in the place of a crew, after telling what will be different. */
export function UnfoldDialog() {
  const id = useUi((ui) => ui.unfold);
  const node = useEditor(({ doc }) => (id === null ? undefined : doc.graph.nodes[id]));
  const isCrew = isCrewNode(node);
  return id !== null && isCrew ? <Open key={id} id={id} /> : null;
}

function Open({ id }: { id: string }) {
  const ui = useUiStore();
  const graph = useEditor(({ doc }) => doc.graph);
  const node = graph.nodes[id];
  const config = isCrewNode(node) ? node.config : undefined;
  const ref = config?.crew_id_or_config_ref;
  const library = useQuery(useTrpc().crews.list.queryOptions(undefined, { enabled: ref !== undefined }));
  const isLoading = ref !== undefined && library.isPending;
  const crew = library.data?.find((known) => known.id === ref)?.crew ?? config?.crew;
  const unfolding = isLoading ? null : unfoldCrew(graph, id, crew);
  return (
    <Dialog
      open
      onOpenChange={(isOpen) => !isOpen && ui.setState({ unfold: null })}
      title={`Expand “${node?.name || id}” into nodes`}
    >
      {unfolding === null ? (
        <Spinner size={20} label="Loading crew…" />
      ) : "reason" in unfolding ? (
        <p className="text-sm text-ink-2">{unfolding.reason}</p>
      ) : (
        <Offer id={id} graph={graph} unfolding={unfolding} />
      )}
    </Dialog>
  );
}

function Offer({
  id,
  graph,
  unfolding,
}: {
  id: string;
  graph: WorkflowGraph;
  unfolding: Exclude<Unfolding, { reason: string }>;
}) {
  const ui = useUiStore();
  const store = useEditorStore();
  const commands = useEditorCommands();
  const [isWorking, setWorking] = useState(false);
  const { nodes, warnings } = unfolding;
  const name = (node: string) => unfolding.graph.nodes[node]?.name || node;
  const agents = nodes.filter((node) => isAgentNode(unfolding.graph.nodes[node]));

  async function unfold() {
    setWorking(true);
    const placed = await placesInstead(graph, id, unfolding.graph, nodes);
    ui.setState({ unfold: null });
    store.getState().edit(UNFOLD, { graph: placed }, { select: {} });
    commands.announce(`Expanded into ${countOf(nodes.length, "node")}`);
    // After the new positions are rendered.
    requestAnimationFrame(() => commands.view.fit());
  }

  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm text-ink-2">
        {countOf(nodes.length, "node")} will replace the crew. Its agents will run in:
      </p>
      <ol
        aria-label="Agent nodes"
        className="flex max-h-44 flex-col gap-1 overflow-y-auto rounded-lg border border-line bg-sunken px-3 py-2 text-[13px]"
      >
        {agents.map((node) => (
          <li key={node} className="flex items-baseline justify-between gap-3">
            <span className="min-w-0 truncate font-medium">{name(node)}</span>
            <span className="shrink-0 text-ink-3">{roleOf(unfolding.graph, node)}</span>
          </li>
        ))}
      </ol>
      <p className="text-[13px] text-ink-2">
        You can edit, pause at and retry each node separately. Agents will no longer share a board or delegate
        tasks. You can undo this.
      </p>
      {warnings.length > 0 ? (
        <FindingList label="What changes" findings={warnings.map((one) => ({ ...one, at: "" }))} />
      ) : null}
      <div className="flex justify-end gap-2">
        <Button onClick={() => ui.setState({ unfold: null })}>Cancel</Button>
        <Button variant="primary" pending={isWorking} onClick={() => void unfold()}>
          Expand into nodes
        </Button>
      </div>
    </div>
  );
}

function roleOf(graph: WorkflowGraph, id: string): string {
  const node = graph.nodes[id];
  return isAgentNode(node) ? node.config.required_role : "";
}

const CLEAR = 16;
const ROW = 120;

/**
 * Positions for nodes that replace one node: the first takes its place, and the nodes to the right of it make room. If
 * cards would still overlap, the whole workflow is arranged.
 */
async function placesInstead(
  before: WorkflowGraph,
  nodeId: string,
  after: WorkflowGraph,
  added: readonly string[],
): Promise<WorkflowGraph> {
  const own = (await layout(after, new Set(added))) ?? {};
  const origin = placeOf(before, nodeId);
  const entry = own[added[0] ?? ""] ?? { x: 0, y: 0 };
  const left = Math.min(...Object.values(own).map(({ x }) => x));
  const places: Record<string, Place> = {};
  for (const [id, { x, y }] of Object.entries(own))
    places[id] = { x: x - left + origin.x, y: y - entry.y + origin.y };
  const more = Math.max(...Object.values(places).map(({ x }) => x)) - origin.x;
  for (const id of Object.keys(before.nodes)) {
    if (id === nodeId) continue;
    const { x, y } = placeOf(before, id);
    places[id] = { x: x >= origin.x + CARD_WIDTH ? x + more : x, y };
  }
  const next = withPlaces(after, places);
  return isClear(next, added) ? next : withPlaces(after, (await layout(next)) ?? {});
}

function isClear(graph: WorkflowGraph, added: readonly string[]): boolean {
  const others = Object.values(graph.nodes).filter((node) => !added.includes(node.id) && isExecutable(node));
  return added.every((id) => {
    const { x, y } = placeOf(graph, id);
    return others.every((other) => {
      const there = placeOf(graph, other.id);
      return Math.abs(there.x - x) >= CARD_WIDTH + CLEAR || Math.abs(there.y - y) >= ROW;
    });
  });
}

const withPlaces = (graph: WorkflowGraph, places: Readonly<Record<string, Place>>): WorkflowGraph => ({
  ...graph,
  nodes: Object.fromEntries(
    Object.entries(graph.nodes).map(([id, node]) => {
      const place = places[id];
      return [id, place ? { ...node, ui: { ...node.ui, ...place } } : node];
    }),
  ),
});
