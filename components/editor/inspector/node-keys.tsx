"use client";

import { KeysField } from "@/components/forms/fields/keys-field";
import { type FormScope, writersOf } from "@/components/forms/form-scope";
import { Disclosure } from "@/components/ui/disclosure";
import type { WorkflowGraph, WorkflowNode } from "@/server/domain/graph/graph";
import { keysRead } from "@/server/domain/graph/keys/keys-read";
import { mentionedKeys, proposedKeys } from "@/server/domain/graph/keys/mentioned-keys";
import { stateProperties } from "@/server/domain/graph/keys/state-properties";
import { getNodeKind } from "@/server/domain/nodes";
import { FieldWarnings } from "../problem-actions";
import type { ShownProblem } from "../use-problems";
import { FieldFrame, mistakeAt, useSetNode, warningsAt } from "./node-form";

/** What state the node reads and writes. */
export function Keys({
  node,
  scope,
  problems,
}: {
  node: WorkflowNode;
  scope: FormScope;
  problems: readonly ShownProblem[];
}) {
  const kind = getNodeKind(node.node_type);
  const set = useSetNode(node.id);
  const reads = scope.keys.map((key) => ({ key: key.key, detail: writersOf(scope, key) }));
  const known = [...new Set([...Object.keys(stateProperties(scope.graph)), ...allKeys(scope.graph)])];
  const declared = [...node.input_keys, ...node.optional_input_keys];
  const mentioned = mentionedKeys(node).required.filter((key) => !declared.includes(key));
  const { required, optional } = keysRead(node);
  const inSettings = [...required, ...optional].filter(
    (key) => !declared.includes(key) && !mentioned.includes(key),
  );
  const keys = [...node.input_keys, ...inSettings, ...node.output_keys].join(", ");
  return (
    <Disclosure
      variant="section"
      title={kind.ends ? "Returns" : "Reads and writes"}
      isOpen
      aside={keys || (kind.ends ? "Everything" : "Nothing")}
    >
      <div data-field="input_keys" className="flex flex-col gap-2">
        <KeysField
          label={kind.ends ? "Keys" : "Reads"}
          hint={kind.ends ? "Leave empty to return the entire final state" : undefined}
          error={mistakeAt(problems, "input_keys")}
          keys={node.input_keys}
          onChange={(input_keys) => set({ input_keys })}
          suggestions={reads}
          placeholder={kind.ends ? "All keys" : "Required inputs"}
        />
        {inSettings.length > 0 ? (
          <p className="text-[13px] text-ink-3">Its settings also read {inSettings.join(", ")}.</p>
        ) : null}
        <FieldWarnings problems={warningsAt(problems, "input_keys")} />
        {mentioned.length > 0 && (
          <button
            type="button"
            onClick={() => set({ input_keys: [...node.input_keys, ...mentioned] })}
            className="self-start rounded-md px-1 text-left text-xs text-ink-2 underline decoration-line-strong underline-offset-2 hover:text-accent"
          >
            Also read keys mentioned in the task: {mentioned.join(", ")}
          </button>
        )}
      </div>
      {!kind.ends && (
        <div data-field="optional_input_keys">
          <KeysField
            label="Optional inputs"
            keys={node.optional_input_keys}
            onChange={(optional_input_keys) => set({ optional_input_keys })}
            suggestions={reads}
            placeholder="Optional"
          />
        </div>
      )}
      {!kind.ends && !kind.routes && (
        <FieldFrame field="output_keys" problems={problems}>
          <KeysField
            label="Writes"
            error={mistakeAt(problems, "output_keys")}
            keys={node.output_keys}
            onChange={(output_keys) => set({ output_keys })}
            suggestions={known.map((key) => ({ key }))}
            placeholder="Output keys"
          />
          <Proposals node={node} graph={scope.graph} onTake={(key) => set({ output_keys: [key] })} />
        </FieldFrame>
      )}
    </Disclosure>
  );
}

/** Names for what a node gives, as long as it gives nothing. */
function Proposals({
  node,
  graph,
  onTake,
}: {
  node: WorkflowNode;
  graph: WorkflowGraph;
  onTake: (key: string) => void;
}) {
  const keys = node.output_keys.length > 0 ? [] : proposedKeys(graph, node);
  if (keys.length === 0) return null;
  return (
    <p className="mt-1.5 flex flex-wrap items-center gap-1.5 text-xs text-ink-3">
      For example
      {keys.map((key) => (
        <button
          key={key}
          type="button"
          aria-label={`Write ${key}`}
          onClick={() => onTake(key)}
          className="rounded-md border border-dashed border-line-strong px-1.5 py-0.5 font-mono text-ink-2 hover:border-accent hover:text-accent"
        >
          {key}
        </button>
      ))}
    </p>
  );
}

const allKeys = (graph: WorkflowGraph) =>
  Object.values(graph.nodes).flatMap(({ output_keys }) => output_keys);
