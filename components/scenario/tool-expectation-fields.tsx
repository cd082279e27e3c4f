"use client";

import { nodeChoices } from "@/components/display/expectation-words";
import { useFormScope } from "@/components/forms/form-scope";
import { SchemaField } from "@/components/forms/schema/schema-field";
import { ToolField } from "@/components/forms/tools/tool-field";
import { Checkbox } from "@/components/ui/checkbox";
import { NumberField } from "@/components/ui/number-field";
import { Select } from "@/components/ui/select";
import type { ExpectationOf } from "@/server/domain/scenario/expectation";
import { type Change, changed } from "./changed";
import { type ExpectationProps, shownNumber } from "./expectation-props";
import { NodeSelect } from "./node-select";

const CALLS = [
  { value: "yes", label: "Is called" },
  { value: "no", label: "Is not called" },
  { value: "times", label: "Is called so often" },
] as const;

/** Which tool is called, how often, by whom and with what; or that it is not. */
export function ToolExpectationFields({
  expectation,
  faultOf,
  onChange,
}: ExpectationProps<ExpectationOf<"tools">>) {
  const { graph } = useFormScope();
  const { tool, called, node, args } = expectation;
  const set = (next: Change<ExpectationOf<"tools">>) => onChange(changed(expectation, next));
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <ToolField
          label="Tool"
          error={faultOf("tool")}
          value={tool}
          onChange={(name) => set({ tool: typeof name === "string" ? name : "" })}
        />
        <Select
          label="Calls"
          hint="What was refused counts as not called."
          options={CALLS}
          value={typeof called === "number" ? "times" : called ? "yes" : "no"}
          onValueChange={(how) => set({ called: how === "times" ? 1 : how === "yes" })}
        />
        {typeof called === "number" ? (
          <NumberField
            label="Times"
            min={0}
            step={1}
            value={shownNumber(called)}
            onValueChange={(next) => set({ called: next ?? 0 })}
          />
        ) : null}
        <NodeSelect
          label="Called by"
          anyLabel="Any node"
          value={node}
          error={faultOf("node")}
          choices={nodeChoices(graph)}
          onChange={(id) => set({ node: id })}
        />
      </div>
      <Checkbox
        label="Only calls whose arguments have a shape"
        checked={args !== undefined}
        onCheckedChange={(has) => set({ args: has ? { type: "object" } : undefined })}
      />
      {args === undefined ? null : (
        <SchemaField
          label="Arguments"
          itemName="argument"
          error={faultOf("args")}
          value={args}
          onChange={(next) => set({ args: next ?? { type: "object" } })}
        />
      )}
    </>
  );
}
