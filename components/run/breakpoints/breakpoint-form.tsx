"use client";

import { useMemo } from "react";
import { ExpressionField } from "@/components/forms/fields/expression-field";
import { type FormScope, FormScopeContext } from "@/components/forms/form-scope";
import { NumberField } from "@/components/ui/input/number-field";
import { Select } from "@/components/ui/input/select";
import { TextField } from "@/components/ui/input/text-field";
import {
  BREAKPOINT_KINDS,
  type Breakpoint,
  type BreakpointKind,
} from "@/server/domain/agent/breakpoint/breakpoint";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { keysAvailableAt } from "@/server/domain/graph/keys/data-flow";
import { allKeys } from "@/server/domain/graph/search/search";
import { isExecutable } from "@/server/domain/nodes";
import { breakpointTitle, KIND_LABELS } from "./breakpoint-labels";

const ANY = "";

interface BreakpointFormProps {
  value: Breakpoint;
  graph: WorkflowGraph;
  onChange: (patch: Partial<Breakpoint>) => void;
}

/** Edits the kind, place and condition of a breakpoint. */
export function BreakpointForm({ value, graph, onChange }: BreakpointFormProps) {
  const keys = useMemo(() => allKeys(graph), [graph]);
  const scope = useMemo((): FormScope => {
    const node = value.node_id === undefined ? null : (graph.nodes[value.node_id] ?? null);
    const known = node
      ? keysAvailableAt(graph, node.id)
      : keys.map((key) => ({ key, from: [], certain: false }));
    return { graph, node, keys: known, roles: [] };
  }, [graph, keys, value.node_id]);
  return (
    <FormScopeContext.Provider value={scope}>
      <div className="flex flex-col gap-3 px-1 pt-1 pb-2">
        <Select<BreakpointKind>
          label="Break on"
          size="sm"
          options={BREAKPOINT_KINDS.map((kind) => ({ value: kind, ...KIND_LABELS[kind] }))}
          value={value.on}
          onValueChange={(on) => onChange(asKind(on))}
        />
        <PlaceSelect {...{ value, graph, onChange }} />
        {value.on === "tool_call" ? (
          <TextField
            label="Tool"
            hint="Leave empty for any tool"
            value={value.tool ?? ""}
            onValueChange={(tool) => onChange({ tool: tool || undefined })}
          />
        ) : null}
        {value.on === "state_write" ? (
          <Select
            label="Key"
            size="sm"
            options={[{ value: ANY, label: "Any key" }, ...keys.map((key) => ({ value: key, label: key }))]}
            value={value.key ?? ANY}
            onValueChange={(key) => onChange({ key: key || undefined })}
          />
        ) : null}
        <ExpressionField
          label="Condition"
          hint="Leave empty for always"
          result="bool"
          placeholder="state.n == 2"
          value={value.condition ?? ""}
          onChange={(condition) => onChange({ condition })}
        />
        <NumberField
          label="Hit count"
          hint="Starts pausing at this hit; 1 pauses every time"
          value={value.hit_count ?? 1}
          min={1}
          max={100_000}
          onValueChange={(count) => onChange({ hit_count: count ?? undefined })}
        />
      </div>
    </FormScopeContext.Provider>
  );
}

function PlaceSelect({ value, graph, onChange }: BreakpointFormProps) {
  return value.on === "edge" ? (
    <Select
      label="Connection"
      size="sm"
      options={[
        { value: ANY, label: "Any connection" },
        ...graph.edges.map(({ id }) => ({
          value: id,
          label: breakpointTitle({ on: "edge", edge_id: id }, graph).replace("On the connection from ", ""),
        })),
      ]}
      value={value.edge_id ?? ANY}
      onValueChange={(id) => onChange({ edge_id: id || undefined })}
    />
  ) : (
    <Select
      label="Node"
      size="sm"
      options={[
        { value: ANY, label: "Any node" },
        ...Object.values(graph.nodes)
          .filter(isExecutable)
          .map(({ id, name }) => ({ value: id, label: name || id })),
      ]}
      value={value.node_id ?? ANY}
      onValueChange={(id) => onChange({ node_id: id || undefined })}
    />
  );
}

/** The kind, without the fields that only other kinds have. */
function asKind(on: BreakpointKind): Partial<Breakpoint> {
  return {
    on,
    ...(on === "tool_call" ? {} : { tool: undefined }),
    ...(on === "state_write" ? {} : { key: undefined }),
    ...(on === "edge" ? { node_id: undefined } : { edge_id: undefined }),
  };
}
