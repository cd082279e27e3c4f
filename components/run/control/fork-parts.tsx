"use client";

import { Field } from "@/components/ui/field";
import { SegmentedControl } from "@/components/ui/segmented-control";
import type { ForkGraph } from "@/server/domain/run/lineage";
import type { ForkRefusal } from "./use-fork";

/** Which version of the workflow a fork runs. */
export function DrawingChoice({
  value,
  onChange,
}: {
  value: ForkGraph;
  onChange: (value: ForkGraph) => void;
}) {
  return (
    <Field group label="Workflow">
      <SegmentedControl
        label="Workflow"
        className="self-start"
        value={value}
        onValueChange={onChange}
        options={[
          { value: "latest", label: "Current version" },
          { value: "original", label: "Version of that run" },
        ]}
      />
    </Field>
  );
}

/** Why no fork was made. */
export function ForkRefused({ refusal }: { refusal: ForkRefusal | null }) {
  if (!refusal) return null;
  const { message, faults } = refusal;
  return (
    <div role="alert" className="text-[13px] text-failed">
      <p>{message}</p>
      {faults.length > 0 ? (
        <ul className="mt-1 list-disc pl-5">
          {faults.map((fault) => (
            <li key={fault}>{fault}</li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
