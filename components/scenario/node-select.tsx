"use client";

import { ArrowUp } from "lucide-react";
import { IconButton } from "@/components/ui/icon-button";
import { Select } from "@/components/ui/input/select";
import { RowList } from "@/components/ui/row-list";

interface NodeChoice {
  value: string;
  label: string;
}
const ANY = "(any)";

/** Chooses a node; `anyLabel` adds an option for any node. */
export function NodeSelect({
  label,
  value,
  error,
  anyLabel,
  hideLabel,
  choices,
  onChange,
}: {
  label: string;
  hideLabel?: boolean;
  value: string | undefined;
  error?: string | undefined;
  anyLabel?: string;
  choices: readonly NodeChoice[];
  onChange: (id: string | undefined) => void;
}) {
  const isMissing = value !== undefined && value !== "" && !choices.some((choice) => choice.value === value);
  return (
    <Select
      label={label}
      hideLabel={hideLabel}
      error={error}
      options={[
        ...(anyLabel === undefined ? [] : [{ value: ANY, label: anyLabel }]),
        ...choices,
        ...(isMissing ? [{ value, label: value, hint: "Unknown node" }] : []),
      ]}
      value={value ?? (anyLabel === undefined ? null : ANY)}
      placeholder="Choose a node…"
      onValueChange={(id) => onChange(id === ANY ? undefined : id)}
    />
  );
}

/** An ordered list of nodes, with repetitions. */
export function NodeSequence({
  label,
  hint,
  error,
  nodes,
  choices,
  onChange,
}: {
  label: string;
  hint?: string;
  error: string | undefined;
  nodes: readonly string[];
  choices: readonly NodeChoice[];
  onChange: (nodes: string[]) => void;
}) {
  const sooner = (at: number) => {
    const [before, own] = nodes.slice(at - 1, at + 1);
    if (before !== undefined && own !== undefined) onChange(nodes.toSpliced(at - 1, 2, own, before));
  };
  return (
    <RowList
      label={label}
      hint={hint}
      error={error}
      plain
      items={nodes}
      addLabel="Add node"
      canAdd={choices.length > 0}
      newItem={() => choices[0]?.value ?? ""}
      onItemsChange={onChange}
      removeLabel={(_, at) => `Remove node ${at + 1}`}
    >
      {(id, at, remove, set) => (
        <div className="flex items-center gap-1">
          <div className="min-w-0 flex-1">
            <NodeSelect
              hideLabel
              label={`Node ${at + 1}`}
              value={id}
              choices={choices}
              onChange={(next) => set(next ?? id)}
            />
          </div>
          <IconButton
            size="sm"
            label={`Move node ${at + 1} up`}
            icon={<ArrowUp aria-hidden />}
            disabled={at === 0}
            onClick={() => sooner(at)}
          />
          {remove}
        </div>
      )}
    </RowList>
  );
}
