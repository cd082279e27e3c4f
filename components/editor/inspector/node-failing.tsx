"use client";

import { DurationField } from "@/components/forms/duration-field";
import { JsonField } from "@/components/forms/schema/json-field";
import { Disclosure } from "@/components/ui/disclosure";
import { NumberField } from "@/components/ui/number-field";
import { Select } from "@/components/ui/select";
import { isObject, keysOf } from "@/server/domain/base/guards";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, type Join, type NodeBase } from "@/server/domain/nodes";
import { durationText } from "@/server/domain/nodes/wait";
import { useSetNode } from "./use-set-node";

const ON_ERROR_OPTIONS: Record<NodeBase["on_error"], { label: string; hint: string }> = {
  fail_run: { label: "End the run as failed", hint: "After what is under way has settled" },
  error_edge: { label: "Take the way “on error”", hint: "A way of its own, drawn from the card" },
  continue: { label: "Go on with a default result", hint: "As if nothing had happened" },
  skip_branch: { label: "Skip this branch", hint: "Other branches go on" },
};

/** What happens when the node fails: attempts, times, and what then. */
export function Failing({ node }: { node: WorkflowNode }) {
  const set = useSetNode(node.id);
  const kind = getNodeKind(node.node_type);
  const { max_attempts, initial_delay_ms } = node.retry;
  const aside = [
    max_attempts > 1 ? `${max_attempts} attempts` : null,
    node.on_error === "fail_run" ? null : ON_ERROR_OPTIONS[node.on_error].label,
  ].filter(Boolean);
  return (
    <Disclosure variant="section" title="When it fails" aside={aside.join(", ") || "The run fails"}>
      <div data-field="retry" className="grid grid-cols-2 gap-3">
        <NumberField
          label="Attempts"
          min={1}
          max={10}
          value={max_attempts}
          onValueChange={(attempts) =>
            set({
              retry: { ...node.retry, max_attempts: Math.min(10, Math.max(1, Math.round(attempts ?? 1))) },
            })
          }
        />
        <DurationField
          label="First pause"
          value={initial_delay_ms}
          onChange={(ms) =>
            set({ retry: { ...node.retry, initial_delay_ms: typeof ms === "number" ? ms : 1000 } })
          }
        />
      </div>
      <div data-field="on_error">
        <Select
          label="And then"
          options={keysOf(ON_ERROR_OPTIONS).map((value) => ({
            value,
            ...ON_ERROR_OPTIONS[value],
          }))}
          value={node.on_error}
          onValueChange={(on_error) => set({ on_error })}
        />
      </div>
      {node.on_error === "continue" && (
        <div data-field="default_output">
          <JsonField
            label="Default result"
            hint={`An object, for example { "${node.output_keys[0] ?? "answer"}": "" }`}
            value={node.default_output}
            onChange={(value) => set({ default_output: isObject(value) ? value : undefined })}
            check={(value) => (isObject(value) ? null : "An object { … } with a value for each key")}
          />
        </div>
      )}
      <div data-field="run_timeout_ms">
        <DurationField
          label="Time for one attempt"
          value={node.run_timeout_ms}
          onChange={(run_timeout_ms) => set({ run_timeout_ms })}
          hint={kind.timeoutMs ? `Without a word: ${durationText(kind.timeoutMs)}` : undefined}
        />
      </div>
      <div data-field="idle_timeout_ms">
        <DurationField
          label="Longest silence"
          hint="How long a model may write nothing"
          value={node.idle_timeout_ms}
          onChange={(idle_timeout_ms) => set({ idle_timeout_ms })}
        />
      </div>
    </Disclosure>
  );
}

type JoinWord = "all" | "any" | "each" | "n";
const JOIN_OPTIONS: Record<JoinWord, { label: string; hint: string }> = {
  all: { label: "All that are still coming", hint: "Waits for every branch that can still arrive" },
  any: { label: "The first", hint: "Runs once, the others are ignored" },
  each: { label: "Each by itself", hint: "Runs once for every branch that arrives" },
  n: { label: "A certain number", hint: "Runs when that many have arrived" },
};

/** How several branches come together here. */
export function Joining({ node, incoming }: { node: WorkflowNode; incoming: number }) {
  const set = useSetNode(node.id);
  const { join } = node;
  const word: JoinWord = typeof join === "object" ? "n" : join;
  const toJoin = (next: JoinWord): Join =>
    next === "n" ? { n: Math.min(2, incoming), on_shortfall: "error" } : next;
  return (
    <Disclosure variant="section" title="Joining" isOpen aside={JOIN_OPTIONS[word].label}>
      <div data-field="join" className="flex flex-col gap-4">
        <Select
          label={`Waits for, of ${incoming} branches`}
          options={keysOf(JOIN_OPTIONS).map((value) => ({
            value,
            ...JOIN_OPTIONS[value],
          }))}
          value={word}
          onValueChange={(next) => set({ join: toJoin(next) })}
        />
        {typeof join === "object" && (
          <>
            <NumberField
              label="How many"
              min={1}
              max={incoming}
              value={join.n}
              onValueChange={(n) => set({ join: { ...join, n: Math.max(1, Math.round(n ?? 1)) } })}
            />
            <Select
              label="If fewer arrive"
              options={[
                { value: "error", label: "Fail" },
                { value: "skip", label: "Skip this node" },
                { value: "fire", label: "Run with those" },
              ]}
              value={join.on_shortfall}
              onValueChange={(on_shortfall) => set({ join: { ...join, on_shortfall } })}
            />
          </>
        )}
      </div>
    </Disclosure>
  );
}
