"use client";

import { ArrowRight, Unplug } from "lucide-react";
import { KindIcon } from "@/components/canvas/cards/kind-icon";
import { Button } from "@/components/ui/button";
import { Disclosure } from "@/components/ui/disclosure";
import { IconButton } from "@/components/ui/icon-button";
import { Menu } from "@/components/ui/menu";
import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind } from "@/server/domain/nodes";
import { useEditorCommands } from "../commands";
import { useEditorStore } from "../editing/editor-store";

/** Where it goes on: the lines from here, for mouse and keyboard. */
export function GoesOnTo({ graph, node }: { graph: WorkflowGraph; node: WorkflowNode }) {
  const store = useEditorStore();
  const commands = useEditorCommands();
  const edges = graph.edges.filter(({ source_node_id }) => source_node_id === node.id);
  const others = Object.values(graph.nodes).filter(
    ({ id, node_type }) => id !== node.id && getNodeKind(node_type).hasEntry !== false,
  );
  return (
    <Disclosure
      variant="section"
      title="Goes on to"
      aside={edges.map(({ target_node_id }) => graph.nodes[target_node_id]?.name).join(", ")}
    >
      {edges.length > 0 && (
        <ul className="flex flex-col gap-1">
          {edges.map((edge) => (
            <li key={edge.id} className="flex items-center gap-1">
              <button
                type="button"
                onClick={() => store.getState().select({ edges: [edge.id] })}
                className="flex h-8 min-w-0 flex-1 items-center gap-2 rounded-lg border border-line px-2.5 text-left text-[13px] hover:border-line-strong"
              >
                <ArrowRight aria-hidden className="size-3.5 shrink-0 text-ink-3" />
                <span className="min-w-0 flex-1 truncate">{graph.nodes[edge.target_node_id]?.name}</span>
                <span className="truncate text-xs text-ink-3">
                  {edge.kind === "error" ? "on error" : (edge.edge_label ?? "")}
                </span>
              </button>
              <IconButton
                label={`Disconnect ${graph.nodes[edge.target_node_id]?.name}`}
                size="sm"
                variant="danger"
                icon={<Unplug aria-hidden />}
                onClick={() => commands.editing.onRemoveEdge(edge.id)}
              />
            </li>
          ))}
        </ul>
      )}
      <Menu
        trigger={
          <Button size="sm" className="self-start">
            Connect to…
          </Button>
        }
        items={
          others.length === 0
            ? [{ label: "There is no other node", disabled: true }]
            : others.map(({ id, name, node_type }) => ({
                label: name || id,
                icon: <KindIcon name={getNodeKind(node_type).icon} />,
                onSelect: () => commands.editing.onConnect({ source: node.id, target: id }),
              }))
        }
      />
    </Disclosure>
  );
}
