"use client";

import { useFormScope } from "@/components/forms/form-scope";
import { keySuggestions } from "@/components/forms/key-facts";
import { ModelChoice } from "@/components/forms/model-choice";
import { Disclosure } from "@/components/ui/disclosure";
import { NumberField } from "@/components/ui/number-field";
import { SuggestField } from "@/components/ui/suggest-field";
import { TextArea } from "@/components/ui/text-area";
import type { ExpectationOf } from "@/server/domain/scenario/expectation";
import { type Change, changed } from "./changed";
import type { ExpectationProps } from "./expectation-props";

/** What a model judges, and by which rubric. */
export function JudgeFields({ expectation, faultOf, onChange }: ExpectationProps<ExpectationOf<"judge">>) {
  const scope = useFormScope();
  const { rubric, key, threshold, model = {} } = expectation;
  const set = (next: Change<ExpectationOf<"judge">>) => onChange(changed(expectation, next));
  return (
    <>
      <TextArea
        label="Rubric"
        hint="What has to be true of it, in words. One thing at a time is judged best."
        error={faultOf("rubric")}
        value={rubric}
        onValueChange={(next) => set({ rubric: next })}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        <SuggestField
          label="Key"
          aside="Empty: the whole output"
          mono
          error={faultOf("key")}
          suggestions={keySuggestions(scope)}
          value={key ?? ""}
          onValueChange={(next) => set({ key: next.trim().replace(/^(state|output)\./, "") || undefined })}
        />
        <NumberField
          label="Score at least"
          hint="From 0 to 1."
          min={0}
          max={1}
          step={0.05}
          error={faultOf("threshold")}
          value={Number.isNaN(threshold) ? null : threshold}
          onValueChange={(next) => set({ threshold: next ?? Number.NaN })}
        />
      </div>
      <Disclosure look="box" title="Who judges">
        <div className="grid grid-cols-2 gap-3">
          <ModelChoice
            choice={model}
            hasDefault
            onChange={(change) => {
              const { provider_id, model: name } = { ...model, ...change };
              const next = {
                ...(provider_id ? { provider_id } : {}),
                ...(name ? { model: name } : {}),
              };
              set({ model: Object.keys(next).length > 0 ? next : undefined });
            }}
          />
        </div>
      </Disclosure>
    </>
  );
}
