"use client";

import { ArrowRight, Copy, Trash2, Unplug, Waypoints } from "lucide-react";
import dynamic from "next/dynamic";
import { useDeferredValue, useMemo } from "react";
import { KindIcon } from "@/components/canvas/cards/kind-icon";
import { type FormScope, FormScopeContext } from "@/components/forms/form-scope";
import { useVariables } from "@/components/forms/variables";
import { Button } from "@/components/ui/button";
import { Disclosure } from "@/components/ui/disclosure";
import { IconButton } from "@/components/ui/icon-button";
import { TextField } from "@/components/ui/input/text-field";
import { Menu } from "@/components/ui/overlay/menu";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { type Analysis, analyse } from "@/server/domain/graph/analysis";
import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, isCrewNode } from "@/server/domain/nodes";
import { keysAvailableAt } from "@/server/domain/problems/problems";
import { useEditorCommands } from "../commands";
import { useEditor, useEditorStore } from "../editing/editor-store";
import { edits } from "../editing/edits";
import { useProblemsAt } from "../use-problems";
import { LastResult } from "./last-result";
import { AsideFields, Inputs, KindFields, NoteSize } from "./node-fields";
import { useSetNode } from "./node-form";
import { Keys } from "./node-keys";
import { Advanced, Failing, Joining } from "./node-sections";

const TriggerList = dynamic(() => import("@/components/triggers/trigger-list").then((m) => m.TriggerList));

/** The nodes that follow, by mouse and keyboard. */
function GoesOnTo({ graph, node }: { graph: WorkflowGraph; node: WorkflowNode }) {
  const store = useEditorStore();
  const commands = useEditorCommands();
  const edges = graph.edges.filter(({ source_node_id }) => source_node_id === node.id);
  const others = Object.values(graph.nodes).filter(
    ({ id, node_type }) => id !== node.id && getNodeKind(node_type).hasEntry !== false,
  );
  return (
    <Disclosure
      variant="section"
      title="Next nodes"
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
            ? [{ label: "No other nodes", disabled: true }]
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

/** The settings of one node: the fields of its kind, then those of every node. */
export function NodeInspector({ id, roles }: { id: string; roles: readonly RoleDefinition[] }) {
  const graph = useEditor(({ doc }) => doc.graph);
  const node = graph.nodes[id];
  if (!node) return null;
  return <Inspector key={id} graph={graph} node={node} roles={roles} />;
}

interface Props {
  graph: WorkflowGraph;
  node: WorkflowNode;
  roles: readonly RoleDefinition[];
}

function Inspector({ graph, node, roles }: Props) {
  const kind = getNodeKind(node.node_type);
  const problems = useProblemsAt("node", node.id);
  // Text here follows the graph with a delay: typing comes first, even in large workflows.
  const settled = useDeferredValue(graph);
  const analysis = useMemo(() => analyse(settled), [settled]);
  const keys = useMemo(() => keysAvailableAt(settled, node.id, analysis), [settled, node.id, analysis]);
  const store = useEditorStore();
  const variables = useVariables(store.getState().id).data?.map(({ name }) => name);
  const scope: FormScope = {
    graph,
    workflowId: store.getState().id,
    node,
    roles,
    keys,
    variables,
    change: (label, apply) =>
      store.getState().edit({ ...edits.change, label }, { apply }, { mergeKey: `${node.id} ${label}` }),
  };
  const runs = kind.executes !== false;
  const canFail = runs && !kind.begins && !kind.ends;
  return (
    <FormScopeContext.Provider value={scope}>
      <NodeHeader node={node} />
      <div className="flex flex-col gap-5 px-4 pt-1 pb-5">
        {kind.begins ? (
          <Inputs node={node} problems={problems} />
        ) : (
          <KindFields node={node} problems={problems} />
        )}
        {kind.noteText ? <NoteSize node={node} /> : null}
        {isCrewNode(node) ? <UnfoldButton /> : null}
      </div>
      {kind.begins && (
        <Disclosure variant="section" title="Triggers" isOpen>
          <TriggerList workflowId={scope.workflowId ?? ""} graph={settled} />
        </Disclosure>
      )}
      {runs && <LastResult graph={graph} node={node} />}
      {runs && !kind.begins && <Keys node={node} scope={scope} problems={problems} />}
      <AsideFields node={node} problems={problems} />
      {kind.hasExit !== false && !kind.routes && <GoesOnTo graph={graph} node={node} />}
      {canFail && <Failing node={node} />}
      {analysis.isJoin(node.id) && <Joining node={node} incoming={forwardEdges(analysis, node.id)} />}
      {runs && <Advanced node={node} isLoop={analysis.loops.has(node.id)} problems={problems} />}
    </FormScopeContext.Provider>
  );
}

const forwardEdges = ({ incoming, backEdges }: Analysis, id: string) =>
  (incoming.get(id) ?? []).filter((edge) => !backEdges.has(edge.id)).length;

function NodeHeader({ node }: { node: WorkflowNode }) {
  const kind = getNodeKind(node.node_type);
  const commands = useEditorCommands();
  const set = useSetNode(node.id);
  return (
    <>
      {/* It stays where it is: beside it stands what closes the settings. */}
      <header className="sticky top-0 z-5 flex items-center gap-1 border-b border-line bg-surface px-4 pt-4 pr-12 pb-3">
        <span className="grid size-8 place-items-center rounded-lg bg-sunken text-ink-2">
          <KindIcon name={kind.icon} />
        </span>
        <span className="ml-1.5 min-w-0 flex-1">
          <span className="block text-[13px] font-semibold">{kind.title}</span>
          <span title={kind.hint} className="line-clamp-2 text-xs text-ink-3">
            {kind.hint}
          </span>
        </span>
        <IconButton
          label="Duplicate"
          shortcut="Ctrl D"
          size="sm"
          icon={<Copy aria-hidden />}
          onClick={commands.duplicate}
        />
        <IconButton
          label="Delete"
          shortcut="Del"
          size="sm"
          variant="danger"
          icon={<Trash2 aria-hidden />}
          onClick={commands.remove}
        />
      </header>
      <div data-field="name" className="px-4 py-4">
        <TextField label="Name" value={node.name} maxLength={200} onValueChange={(name) => set({ name })} />
      </div>
    </>
  );
}

function UnfoldButton() {
  const commands = useEditorCommands();
  return (
    <Button size="sm" icon={<Waypoints />} className="self-start" onClick={commands.unfold}>
      Expand into nodes…
    </Button>
  );
}
