"use client";

import { AssignmentsField } from "@/components/forms/crew/assignments-field";
import { ExpressionField } from "@/components/forms/expression-field";
import { Disclosure } from "@/components/ui/disclosure";
import { NumberField } from "@/components/ui/number-field";
import { TextArea } from "@/components/ui/text-area";
import { TextField } from "@/components/ui/text-field";
import type { WorkflowNode } from "@/server/domain/graph/graph";
import { FieldWarnings } from "../problem-actions";
import type { ShownProblem } from "../use-problems";
import { mistakeAt, useSetNode, warningsAt } from "./use-set-node";

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
  const orNothing = (text: string) => (text.trim() === "" ? undefined : text);
  const used = [
    node.when ? "only if" : null,
    node.input_mapping || node.output_mapping ? "mapping" : null,
    node.concurrency_key ? "one at a time" : null,
    node.max_iterations ? `${node.max_iterations} turns` : null,
  ].filter(Boolean);
  return (
    <Disclosure variant="section" title="Advanced" aside={used.join(", ") || undefined}>
      <div data-field="description">
        <TextArea
          label="Description"
          hint="For people, and for models that choose a way here"
          rows={2}
          value={node.description ?? ""}
          onValueChange={(text) => set({ description: orNothing(text) })}
        />
      </div>
      {isLoop && (
        <div data-field="max_iterations">
          <NumberField
            label="Most turns of this loop"
            hint="A loop begins here"
            min={1}
            max={1000}
            placeholder="As the workflow says"
            value={node.max_iterations ?? null}
            onValueChange={(turns) =>
              set({
                max_iterations: turns === null ? undefined : Math.min(1000, Math.max(1, Math.round(turns))),
              })
            }
          />
        </div>
      )}
      <div data-field="when">
        <ExpressionField
          label="Only if"
          hint="Where this does not hold, the node is skipped and its ways are still taken"
          error={mistakeAt(problems, "when")}
          result="bool"
          value={node.when ?? ""}
          onChange={(text) => set({ when: orNothing(text) })}
        />
        <FieldWarnings problems={warningsAt(problems, "when")} />
      </div>
      <div data-field="input_mapping">
        <AssignmentsField
          label="Input mapping"
          hint="A name inside this node, and where its value comes from"
          keyLabel="Name"
          itemName="mapping"
          variables={["nodes", "input", "run"]}
          value={node.input_mapping}
          onChange={(value) => set({ input_mapping: orNone(value) })}
        />
      </div>
      <div data-field="output_mapping">
        <AssignmentsField
          label="Output mapping"
          hint="A key of the state, and how it comes from the result"
          itemName="mapping"
          variables={["output"]}
          value={node.output_mapping}
          onChange={(value) => set({ output_mapping: orNone(value) })}
        />
      </div>
      <div data-field="concurrency_key">
        <TextField
          label="Never at the same time as"
          hint="Nodes with the same word here run one after another"
          maxLength={80}
          value={node.concurrency_key ?? ""}
          onValueChange={(text) => set({ concurrency_key: orNothing(text) })}
        />
      </div>
    </Disclosure>
  );
}

const orNone = (texts: Record<string, string>) => (Object.keys(texts).length > 0 ? texts : undefined);
