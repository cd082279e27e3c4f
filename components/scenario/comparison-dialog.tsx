"use client";

import { useState } from "react";
import { countOf } from "@/components/display/format";
import { JsonField } from "@/components/forms/schema/json-field";
import { ErrorText } from "@/components/page/error-text";
import { useTrpcClient } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/input/checkbox";
import { Field } from "@/components/ui/input/field";
import { NumberField } from "@/components/ui/input/number-field";
import { Dialog } from "@/components/ui/overlay/dialog";
import { RowList } from "@/components/ui/row-list";
import { Spinner } from "@/components/ui/spinner";
import { isObject } from "@/server/domain/base/guards";
import { type Json, JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { ComparisonView } from "./comparison-view";
import { isWhole, type Money, MoneyFields, moneyOf, NO_MONEY } from "./money-fields";
import { useStoppable } from "./use-stoppable";
import type { TestSummary } from "./use-tests";
import { missingIn, newVariant, toVariant, type VariantDraft, VariantRows } from "./variant-fields";

interface Inputs {
  /** Ids of tests whose inputs and expectations are used. */
  tests: readonly string[];
  others: readonly Json[];
}

/** Compares variants of a workflow: a form for variants, inputs and the spending cap, then the report. */
export function CompareDialog({
  workflowId,
  graph,
  tests,
  onClose,
}: {
  workflowId: string;
  graph: WorkflowGraph;
  tests: readonly TestSummary[];
  onClose: () => void;
}) {
  const [variants, setVariants] = useState(FIRST_VARIANTS);
  const [inputs, setInputs] = useState<Inputs>({ tests: tests.map(({ id }) => id), others: [] });
  const [money, setMoney] = useState(NO_MONEY);
  const [repeats, setRepeats] = useState(1);
  const [isChecked, setChecked] = useState(false);
  const { run, stop } = useStoppable(useTrpcClient().tests.compare.mutate);
  const error = errorOf(variants, inputs, money);
  const begin = () => {
    setChecked(true);
    if (error === null)
      run.mutate({
        workflow_id: workflowId,
        variants: variants.map((draft) => toVariant(draft, graph)),
        tests: [...inputs.tests],
        inputs: inputs.others.map((input) => ({ input: JsonObject.parse(input) })),
        ...(repeats > 1 ? { repeats } : {}),
        ...moneyOf(money),
      });
  };
  const report = run.isPending ? undefined : run.data;
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      size="xl"
      sticky
      title="Compare variants"
      description="Run variants on the same inputs and compare the results. Your workflow isn't changed."
      footer={
        report ? (
          <>
            <Button onClick={run.reset}>Change variants</Button>
            <Button variant="primary" onClick={onClose}>
              Done
            </Button>
          </>
        ) : run.isPending ? (
          <Button onClick={stop}>Stop</Button>
        ) : (
          <>
            <span className="mr-auto self-center">
              <ErrorText error={isChecked && error} />
            </span>
            <Button onClick={onClose}>Cancel</Button>
            <Button variant="primary" onClick={begin}>
              Compare
            </Button>
          </>
        )
      }
    >
      {run.isPending ? (
        <Running times={variants.length * (inputs.tests.length + inputs.others.length) * repeats} />
      ) : report ? (
        <ComparisonView report={report} />
      ) : (
        <div className="flex flex-col gap-5">
          <ErrorText error={run.error} />
          <VariantRows graph={graph} variants={variants} onChange={setVariants} isChecked={isChecked} />
          <InputFields tests={tests} inputs={inputs} onChange={setInputs} />
          <Repeats value={repeats} onChange={setRepeats} />
          <MoneyFields money={money} onChange={setMoney} />
        </div>
      )}
    </Dialog>
  );
}

function Running({ times }: { times: number }) {
  return (
    <p role="status" className="flex items-center gap-2 py-8 text-sm text-ink-2">
      <Spinner size={16} /> Executing {countOf(times, "run")}… Keep this dialog open: closing it stops the
      comparison.
    </p>
  );
}

function Repeats({ value, onChange }: { value: number; onChange: (value: number) => void }) {
  return (
    <NumberField
      label="Repetitions"
      hint="Real models vary between runs"
      min={1}
      max={20}
      step={1}
      value={value}
      onValueChange={(next) => onChange(Math.max(1, Math.min(20, Math.round(next ?? 1))))}
      fieldClassName="max-w-56"
    />
  );
}

const FIRST_VARIANTS: readonly VariantDraft[] = [newVariant(1, "as_it_is"), newVariant(2, "model")];

function errorOf(variants: readonly VariantDraft[], inputs: Inputs, money: Money): string | null {
  if (variants.length === 0) return "Add a variant.";
  if (variants.some((draft) => missingIn(draft) !== null)) return "Complete all variants.";
  if (inputs.tests.length + inputs.others.length === 0) return "Choose a test, or add an input.";
  if (inputs.others.some((input) => !isObject(input))) return "Each input must be a JSON object { … }.";
  return isWhole(money) ? null : "Set a cost limit.";
}

function InputFields({
  tests,
  inputs,
  onChange,
}: {
  tests: readonly TestSummary[];
  inputs: Inputs;
  onChange: (next: Inputs) => void;
}) {
  const { tests: chosen, others } = inputs;
  return (
    <>
      {tests.length > 0 ? (
        <Field label="Tests" hint="Uses their inputs and expectations" group>
          <div className="flex flex-col gap-2">
            {tests.map(({ id, name }) => (
              <Checkbox
                key={id}
                label={name}
                checked={chosen.includes(id)}
                onCheckedChange={(isOn) =>
                  onChange({ ...inputs, tests: isOn ? [...chosen, id] : chosen.filter((one) => one !== id) })
                }
              />
            ))}
          </div>
        </Field>
      ) : null}
      <RowList
        label="Extra inputs"
        hint="Each passes if its run completes"
        items={others}
        addLabel="Add an input"
        newItem={() => ({})}
        onItemsChange={(next) => onChange({ ...inputs, others: next })}
        removeLabel={(_, at) => `Remove input ${at + 1}`}
      >
        {(input, at, remove, set) => (
          <div className="flex items-start gap-2">
            <div className="min-w-0 flex-1">
              <JsonField
                label={`Input ${at + 1}`}
                value={input}
                check={(json) => (isObject(json) ? null : "Enter a JSON object { … }.")}
                onChange={(next) => set(next ?? null)}
              />
            </div>
            {remove}
          </div>
        )}
      </RowList>
    </>
  );
}
