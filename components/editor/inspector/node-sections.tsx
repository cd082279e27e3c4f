"use client";

import { AssignmentsField } from "@/components/forms/crew/assignments-field";
import { ExpressionField } from "@/components/forms/fields/expression-field";
import { Disclosure } from "@/components/ui/disclosure";
import { Select } from "@/components/ui/input/select";
import { choicesOf, type FormPart } from "@/server/domain/base/form";
import { isObject } from "@/server/domain/base/guards";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { getNodeKind, type NodeBase } from "@/server/domain/nodes";
import { durationText } from "@/server/domain/nodes/wait";
import type { ShownProblem } from "../use-problems";
import { FieldFrame, mistakeAt, NodeParts, useSetNode } from "./node-form";

const ON_ERROR_OPTIONS: Record<NodeBase["on_error"], { label: string; hint: string }> = {
  fail_run: { label: "Fail the run", hint: "Nodes already running finish first" },
  error_edge: { label: "Follow the error path", hint: "Connect it from the node's error output" },
  continue: { label: "Use a default output", hint: "Continues as if the node succeeded" },
  skip_branch: { label: "Skip this branch", hint: "Other branches continue" },
};

const FAILING: readonly FormPart<NodeBase>[] = [
  { key: "retry.max_attempts", label: "Attempts", as: "number", min: 1, max: 10, empty: 1 },
  { key: "retry.initial_delay_ms", label: "Initial delay", as: "milliseconds", empty: 1000 },
  { key: "on_error", label: "On error", as: "choice", options: choicesOf(ON_ERROR_OPTIONS) },
  {
    key: "default_output",
    label: "Default output",
    as: "json",
    check: (value) => (isObject(value) ? null : "Enter an object { … } with a value for each key."),
    showIf: ({ on_error }) => on_error === "continue",
  },
  { key: "run_timeout_ms", label: "Attempt timeout", as: "milliseconds" },
  {
    key: "idle_timeout_ms",
    label: "Idle timeout",
    as: "milliseconds",
    hint: "Maximum time without model output",
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
    <Disclosure variant="section" title="On error" aside={aside.join(", ") || "Fails the run"}>
      <NodeParts
        node={node}
        parts={FAILING}
        now={{
          default_output: { hint: `An object, for example { "${node.output_keys[0] ?? "answer"}": "" }` },
          run_timeout_ms: timeoutMs ? { hint: `Default: ${durationText(timeoutMs)}` } : {},
        }}
      />
    </Disclosure>
  );
}

type JoinChoice = "all" | "any" | "each" | "n";
const JOIN_OPTIONS: Record<JoinChoice, { label: string; hint: string }> = {
  all: { label: "All branches", hint: "Waits for every active branch" },
  any: { label: "First branch", hint: "Runs once and ignores the rest" },
  each: { label: "Each branch", hint: "Runs once per branch" },
  n: { label: "Number of branches", hint: "Runs when this many arrive" },
};

const JOIN_COUNT: readonly FormPart<NodeBase>[] = [
  { key: "join.n", label: "Count", as: "number", min: 1, empty: 1 },
  {
    key: "join.on_shortfall",
    label: "If fewer arrive",
    as: "choice",
    options: [
      { value: "error", label: "Fail" },
      { value: "skip", label: "Skip this node" },
      { value: "fire", label: "Run anyway" },
    ],
  },
];

/** How several branches come together here. */
export function Joining({ node, incoming }: { node: WorkflowNode; incoming: number }) {
  const set = useSetNode(node.id);
  const choice: JoinChoice = typeof node.join === "object" ? "n" : node.join;
  return (
    <Disclosure variant="section" title="Join" isOpen aside={JOIN_OPTIONS[choice].label}>
      <FieldFrame field="join">
        <Select<JoinChoice>
          label={`Wait for (${incoming} branches)`}
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
    hint: "Shown to people, and to models that route here",
    lines: 2,
  },
  {
    key: "max_iterations",
    label: "Max iterations",
    as: "number",
    hint: "Limits the loop that starts at this node",
    min: 1,
    max: 1000,
    placeholder: "Workflow default",
  },
  { slot: "when" },
  { slot: "mappings" },
  {
    key: "concurrency_key",
    label: "Concurrency group",
    as: "text",
    hint: "Nodes in the same group run one at a time",
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
    node.when ? "condition" : null,
    node.input_mapping || node.output_mapping ? "mapping" : null,
    node.concurrency_key ? "concurrency group" : null,
    node.max_iterations ? `${node.max_iterations} iterations` : null,
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
                label="Condition"
                hint="If false, the node is skipped and the run continues"
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
                  hint="Name in this node, and its source"
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
                  hint="State key, and its value from the result"
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
