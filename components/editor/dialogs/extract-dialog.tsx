"use client";

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { layout } from "@/components/canvas/layout/layout";
import { countOf } from "@/components/display/format";
import { FormDialog } from "@/components/forms/form-dialog";
import { useInvalidate, useTrpcClient } from "@/components/trpc";
import { TextField } from "@/components/ui/input/text-field";
import { Dialog } from "@/components/ui/overlay/dialog";
import { toId } from "@/server/domain/base/ids";
import { type Extraction, extractNodes } from "@/server/domain/graph/extract";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { useEditorCommands } from "../commands";
import { useEditorStore } from "../editing/editor-store";
import { edits } from "../editing/edits";
import { useUi, useUiStore } from "../ui-store";

/** Moves nodes into a new workflow, which one node then runs in their place. */
export function ExtractDialog() {
  const ui = useUiStore();
  const store = useEditorStore();
  const ids = useUi(({ extract }) => extract) ?? [];
  // The dialog covers the canvas, so the workflow can't change.
  const [graph] = useState(() => store.getState().doc.graph);
  const [extraction] = useState(() => extractNodes(graph, ids));
  const onClose = () => ui.setState({ extract: null });
  return "reason" in extraction ? (
    <Dialog open onOpenChange={(isOpen) => isOpen || onClose()} title="Can't extract these nodes">
      <p className="text-sm text-ink-2">{extraction.reason}</p>
    </Dialog>
  ) : (
    <Offer {...{ graph, ids, extraction, onClose }} />
  );
}

interface OfferProps {
  graph: WorkflowGraph;
  ids: readonly string[];
  extraction: Exclude<Extraction, { reason: string }>;
  onClose: () => void;
}

function Offer({ graph, ids, extraction: { part, replaced }, onClose }: OfferProps) {
  const store = useEditorStore();
  const commands = useEditorCommands();
  const client = useTrpcClient();
  const invalidate = useInvalidate("workflows");
  const [name, setName] = useState(() => proposedName(graph, ids));
  const extract = useMutation({
    mutationFn: async () => {
      const drawn = withPlaces({ ...part, graph_id: toId(name) || "workflow" }, (await layout(part)) ?? {});
      return client.workflows.create.mutate({ name, graph: drawn });
    },
    onSuccess: ({ id }) => {
      const { graph: next, node_id } = replaced(id, name.trim());
      store.getState().edit(edits.extract, { graph: next }, { select: { nodes: [node_id] } });
      commands.announce(`Moved to the workflow ${name}`);
      onClose();
      void invalidate();
    },
  });
  const count = Object.keys(part.nodes).length - 2;
  return (
    <FormDialog
      title="Extract to workflow"
      description={`Moves ${countOf(count, "node")} to a new workflow. A sub-workflow node replaces ${count === 1 ? "it" : "them"}.`}
      submit="Extract"
      mutation={extract}
      isIncomplete={name.trim() === ""}
      onSubmit={() => extract.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        value={name}
        maxLength={200}
        onValueChange={setName}
        autoFocus
        onFocus={(event) => event.target.select()}
      />
    </FormDialog>
  );
}

/** The name of the group that the nodes are, or of the first node. */
function proposedName({ nodes, groups = [] }: WorkflowGraph, ids: readonly string[]): string {
  const group = groups.find(
    ({ node_ids }) => node_ids.length === ids.length && ids.every((id) => node_ids.includes(id)),
  );
  return group?.name || nodes[ids[0] ?? ""]?.name || "Sub-workflow";
}

const withPlaces = (
  graph: WorkflowGraph,
  places: Readonly<Record<string, { x: number; y: number }>>,
): WorkflowGraph => ({
  ...graph,
  nodes: Object.fromEntries(
    Object.entries(graph.nodes).map(([id, node]) => [
      id,
      places[id] ? { ...node, ui: { ...node.ui, ...places[id] } } : node,
    ]),
  ),
});
