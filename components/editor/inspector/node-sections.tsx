"use client";

import { AssignmentsField } from "@/components/forms/crew/assignments-field";
import { ExpressionField } from "@/components/forms/expression-field";
import { Disclosure } from "@/components/ui/disclosure";
import { Select } from "@/components/ui/select";
import { choicesOf, type FormPart } from "@/server/domain/base/form";
import { isObject } from "@/server/domain/base/guards";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, type NodeBase } from "@/server/domain/nodes";
import { durationText } from "@/server/domain/nodes/wait";
import type { ShownProblem } from "../use-problems";
import { FieldFrame, mistakeAt, NodeParts, useSetNode } from "./node-form";

const ON_ERROR_OPTIONS: Record<NodeBase["on_error"], { label: string; hint: string }> = {
  fail_run: { label: "End the run as failed", hint: "After what is under way has settled" },
  error_edge: { label: "Take the way “on error”", hint: "A way of its own, drawn from the card" },
  continue: { label: "Go on with a default result", hint: "As if nothing had happened" },
  skip_branch: { label: "Skip this branch", hint: "Other branches go on" },
};

const FAILING: readonly FormPart<NodeBase>[] = [
  {
    as: "columns",
    most: 2,
    parts: [
      { key: "retry.max_attempts", label: "Attempts", as: "number", min: 1, max: 10, empty: 1 },
      { key: "retry.initial_delay_ms", label: "First pause", as: "milliseconds", empty: 1000 },
    ],
  },
  { key: "on_error", label: "And then", as: "choice", options: choicesOf(ON_ERROR_OPTIONS) },
  {
    key: "default_output",
    label: "Default result",
    as: "json",
    check: (value) => (isObject(value) ? null : "An object { … } with a value for each key"),
    showIf: ({ on_error }) => on_error === "continue",
  },
  { key: "run_timeout_ms", label: "Time for one attempt", as: "milliseconds" },
  {
    key: "idle_timeout_ms",
    label: "Longest silence",
    as: "milliseconds",
    hint: "How long a model may write nothing",
  },
];

/** What happens when the node fails: attempts, times, and what then. */
export function Failing({ node }: { node: WorkflowNode }) {
  const { timeoutMs } = getNodeKind(node.node_type);
  const { max_attempts } = node.retry;
  const aside = [
    max_attempts > 1 ? `${max_attempts} attempts` : null,
    node.on_error === "fail_run" ? null : ON_ERROR_OPTIONS[node.on_error].label,
  ].filter(Boolean);
  return (
    <Disclosure variant="section" title="When it fails" aside={aside.join(", ") || "The run fails"}>
      <NodeParts
        node={node}
        parts={FAILING}
        now={{
          default_output: { hint: `An object, for example { "${node.output_keys[0] ?? "answer"}": "" }` },
          run_timeout_ms: timeoutMs ? { hint: `Without a word: ${durationText(timeoutMs)}` } : {},
        }}
      />
    </Disclosure>
  );
}

type JoinChoice = "all" | "any" | "each" | "n";
const JOIN_OPTIONS: Record<JoinChoice, { label: string; hint: string }> = {
  all: { label: "All that are still coming", hint: "Waits for every branch that can still arrive" },
  any: { label: "The first", hint: "Runs once, the others are ignored" },
  each: { label: "Each by itself", hint: "Runs once for every branch that arrives" },
  n: { label: "A certain number", hint: "Runs when that many have arrived" },
};

const JOIN_COUNT: readonly FormPart<NodeBase>[] = [
  { key: "join.n", label: "How many", as: "number", min: 1, empty: 1 },
  {
    key: "join.on_shortfall",
    label: "If fewer arrive",
    as: "choice",
    options: [
      { value: "error", label: "Fail" },
      { value: "skip", label: "Skip this node" },
      { value: "fire", label: "Run with those" },
    ],
  },
];

/** How several branches come together here. */
export function Joining({ node, incoming }: { node: WorkflowNode; incoming: number }) {
  const set = useSetNode(node.id);
  const choice: JoinChoice = typeof node.join === "object" ? "n" : node.join;
  return (
    <Disclosure variant="section" title="Joining" isOpen aside={JOIN_OPTIONS[choice].label}>
      <FieldFrame field="join">
        <Select<JoinChoice>
          label={`Waits for, of ${incoming} branches`}
          options={choicesOf(JOIN_OPTIONS)}
          value={choice}
          onValueChange={(next) =>
            set({ join: next === "n" ? { n: Math.min(2, incoming), on_shortfall: "error" } : next })
          }
        />
      </FieldFrame>
      {choice === "n" ? (
        <NodeParts node={node} parts={JOIN_COUNT} now={{ "join.n": { max: incoming } }} />
      ) : null}
    </Disclosure>
  );
}

const ADVANCED: readonly FormPart<NodeBase, "when" | "mappings">[] = [
  {
    key: "description",
    label: "Description",
    as: "multiline",
    hint: "For people, and for models that choose a way here",
    lines: 2,
  },
  {
    key: "max_iterations",
    label: "Most turns of this loop",
    as: "number",
    hint: "A loop begins here",
    min: 1,
    max: 1000,
    placeholder: "As the workflow says",
  },
  { slot: "when" },
  { slot: "mappings" },
  {
    key: "concurrency_key",
    label: "Never at the same time as",
    as: "text",
    hint: "Nodes with the same word here run one after another",
    longest: 80,
  },
];
const ADVANCED_OUTSIDE_LOOPS = ADVANCED.filter((part) => !("key" in part) || part.key !== "max_iterations");

/** What few nodes need. */
export function Advanced({
  node,
  isLoop,
  problems,
}: {
  node: WorkflowNode;
  isLoop: boolean;
  problems: readonly ShownProblem[];
}) {
  const set = useSetNode(node.id);
  const used = [
    node.when ? "only if" : null,
    node.input_mapping || node.output_mapping ? "mapping" : null,
    node.concurrency_key ? "one at a time" : null,
    node.max_iterations ? `${node.max_iterations} turns` : null,
  ].filter(Boolean);
  return (
    <Disclosure variant="section" title="Advanced" aside={used.join(", ") || undefined}>
      <NodeParts
        node={node}
        parts={isLoop ? ADVANCED : ADVANCED_OUTSIDE_LOOPS}
        slots={{
          when: (
            <FieldFrame field="when" problems={problems}>
              <ExpressionField
                label="Only if"
                hint="Where this does not hold, the node is skipped and its ways are still taken"
                error={mistakeAt(problems, "when")}
                result="bool"
                value={node.when ?? ""}
                onChange={(text) => set({ when: text.trim() === "" ? undefined : text })}
              />
            </FieldFrame>
          ),
          mappings: (
            <>
              <FieldFrame field="input_mapping">
                <AssignmentsField
                  label="Input mapping"
                  hint="A name inside this node, and where its value comes from"
                  keyLabel="Name"
                  itemName="mapping"
                  variables={["nodes", "input", "run"]}
                  value={node.input_mapping}
                  onChange={(value) => set({ input_mapping: orNone(value) })}
                />
              </FieldFrame>
              <FieldFrame field="output_mapping">
                <AssignmentsField
                  label="Output mapping"
                  hint="A key of the state, and how it comes from the result"
                  itemName="mapping"
                  variables={["output"]}
                  value={node.output_mapping}
                  onChange={(value) => set({ output_mapping: orNone(value) })}
                />
              </FieldFrame>
            </>
          ),
        }}
      />
    </Disclosure>
  );
}

const orNone = (texts: Record<string, string>) => (Object.keys(texts).length > 0 ? texts : undefined);
