"use client";

import { ArrowUp } from "lucide-react";
import { nodeChoices, PATH_MODES } from "@/components/display/expectation-words";
import { ExpressionField } from "@/components/forms/expression-field";
import { useFormScope } from "@/components/forms/form-scope";
import { JsonField } from "@/components/forms/json-field";
import { keySuggestions } from "@/components/forms/key-facts";
import { SchemaField } from "@/components/forms/schema-field";
import { ToolField } from "@/components/forms/tool-field";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { IconButton } from "@/components/ui/icon-button";
import { NumberField } from "@/components/ui/number-field";
import { RowList } from "@/components/ui/row-list";
import { Select } from "@/components/ui/select";
import { SuggestField } from "@/components/ui/suggest-field";
import { TextField } from "@/components/ui/text-field";
import { FINAL_STATUS_WORDS, FinalStatus } from "@/server/domain/agent/outcome";
import { isObject } from "@/server/domain/base/guards";
import { type Json, JsonSchema, Json as JsonValue } from "@/server/domain/base/values";
import type { Expectation, ExpectationOf } from "@/server/domain/scenario/expectation";
import { type Change, changed } from "./changed";
import type { ExpectationProps } from "./expectation-props";
import { JudgeFields } from "./judge-fields";

const orNothing = (text: string) => (text === "" ? undefined : text);
const orNone = (number: number | null) => number ?? undefined;
const shownNumber = (number: number | undefined) =>
  number === undefined || Number.isNaN(number) ? null : number;

/** The fields of an expectation, by its kind. */
export function ExpectationFields(props: ExpectationProps<Expectation>) {
  const { expectation, ...rest } = props;
  switch (expectation.kind) {
    case "status":
      return <StatusFields expectation={expectation} {...rest} />;
    case "path":
      return <PathFields expectation={expectation} {...rest} />;
    case "visits":
      return <VisitsFields expectation={expectation} {...rest} />;
    case "state":
      return (
        <ExpressionField
          label="Condition"
          result="bool"
          variables={["output", "input"]}
          error={rest.faultOf("when")}
          value={expectation.when}
          onChange={(when) => rest.onChange({ ...expectation, when })}
        />
      );
    case "text":
      return <TextFields expectation={expectation} {...rest} />;
    case "questions":
      return <QuestionFields expectation={expectation} {...rest} />;
    case "tools":
      return <ToolFields expectation={expectation} {...rest} />;
    case "cost":
      return (
        <NumberField
          label="At most"
          unit="US$"
          min={0}
          step={0.01}
          error={rest.faultOf("at_most_usd")}
          hint="A cost that is not known fails."
          value={shownNumber(expectation.at_most_usd)}
          onValueChange={(most) => rest.onChange({ ...expectation, at_most_usd: most ?? Number.NaN })}
          fieldClassName="max-w-56"
        />
      );
    case "tokens":
      return (
        <NumberField
          label="At most"
          unit="tokens"
          min={0}
          step={100}
          error={rest.faultOf("at_most")}
          value={shownNumber(expectation.at_most)}
          onValueChange={(most) => rest.onChange({ ...expectation, at_most: most ?? Number.NaN })}
          fieldClassName="max-w-56"
        />
      );
    case "judge":
      return <JudgeFields expectation={expectation} {...rest} />;
  }
}

function StatusFields({ expectation, faultOf, onChange }: ExpectationProps<ExpectationOf<"status">>) {
  return (
    <div className="grid gap-3 sm:grid-cols-2">
      <Select
        label="It ends"
        options={FinalStatus.options.map((value) => ({ value, label: FINAL_STATUS_WORDS[value] }))}
        value={expectation.is}
        onValueChange={(is) => onChange({ ...expectation, is })}
      />
      <TextField
        label="Reason"
        aside="Optional"
        mono
        placeholder="such as BUDGET"
        error={faultOf("reason")}
        value={expectation.reason ?? ""}
        onValueChange={(reason) => onChange(changed(expectation, { reason: orNothing(reason.trim()) }))}
      />
    </div>
  );
}

function PathFields({ expectation, faultOf, onChange }: ExpectationProps<ExpectationOf<"path">>) {
  const { graph } = useFormScope();
  const choices = nodeChoices(graph);
  const { nodes, mode } = expectation;
  return (
    <>
      <Select
        label="How it runs"
        options={PATH_MODES}
        value={mode}
        onValueChange={(next) => onChange({ ...expectation, mode: next })}
        fieldClassName="max-w-72"
      />
      <NodeList
        label="Nodes"
        error={faultOf("nodes")}
        nodes={nodes}
        choices={choices}
        onChange={(next) => onChange({ ...expectation, nodes: next })}
      />
    </>
  );
}

/** Nodes in an order; one may stand there several times. */
function NodeList({
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
  const put = (at: number, ...instead: string[]) => onChange(nodes.toSpliced(at, 1, ...instead));
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
      addLabel="Add a node"
      canAdd={choices.length > 0}
      onAdd={() => onChange([...nodes, choices[0]?.value ?? ""])}
      onRemove={(at) => put(at)}
      removeLabel={(_, at) => `Remove node ${at + 1}`}
    >
      {(id, at, remove) => (
        <div className="flex items-center gap-1">
          <div className="min-w-0 flex-1">
            <NodeSelect
              hideLabel
              label={`Node ${at + 1}`}
              value={id}
              choices={choices}
              onChange={(next) => put(at, next ?? id)}
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

function VisitsFields({ expectation, faultOf, onChange }: ExpectationProps<ExpectationOf<"visits">>) {
  const { graph } = useFormScope();
  const { node, times, at_least, at_most } = expectation;
  const set = (next: Change<ExpectationOf<"visits">>) => onChange(changed(expectation, next));
  return (
    <>
      <NodeSelect
        label="Node"
        value={node}
        error={faultOf("node")}
        onChange={(id) => set({ node: id ?? "" })}
        choices={nodeChoices(graph)}
      />
      <div className="grid gap-3 sm:grid-cols-3">
        <NumberField
          label="Times"
          aside="Optional"
          min={0}
          step={1}
          error={faultOf("times")}
          value={shownNumber(times)}
          onValueChange={(next) => set({ times: orNone(next) })}
        />
        <NumberField
          label="At least"
          aside="Optional"
          min={0}
          step={1}
          error={faultOf("at_least")}
          value={shownNumber(at_least)}
          onValueChange={(next) => set({ at_least: orNone(next) })}
        />
        <NumberField
          label="At most"
          aside="Optional"
          min={0}
          step={1}
          error={faultOf("at_most")}
          value={shownNumber(at_most)}
          onValueChange={(next) => set({ at_most: orNone(next) })}
        />
      </div>
    </>
  );
}

interface NodeChoice {
  value: string;
  label: string;
}
const ANY = "(any)";

/** A node of the drawing; with `anyLabel` also none in particular. */
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
        ...(isMissing ? [{ value, label: value, hint: "There is no such node" }] : []),
      ]}
      value={value ?? (anyLabel === undefined ? null : ANY)}
      placeholder="Choose a node…"
      onValueChange={(id) => onChange(id === ANY ? undefined : id)}
    />
  );
}

function QuestionFields({ expectation, faultOf, onChange }: ExpectationProps<ExpectationOf<"questions">>) {
  const { graph } = useFormScope();
  const { nodes, count } = expectation;
  const set = (next: Change<ExpectationOf<"questions">>) => onChange(changed(expectation, next));
  return (
    <>
      <NumberField
        label="How many"
        aside="Optional"
        hint="0: nobody is asked."
        min={0}
        step={1}
        error={faultOf("count")}
        value={shownNumber(count)}
        onValueChange={(next) => set({ count: orNone(next) })}
        fieldClassName="max-w-56"
      />
      <NodeList
        label="Asked at"
        hint="One for each question, in any order; none: wherever they are asked."
        error={faultOf("nodes")}
        nodes={nodes ?? []}
        choices={nodeChoices(graph)}
        onChange={(next) => set({ nodes: next.length > 0 ? next : undefined })}
      />
    </>
  );
}

const CALLS = [
  { value: "yes", label: "Is called" },
  { value: "no", label: "Is not called" },
  { value: "times", label: "Is called so often" },
] as const;

function ToolFields({ expectation, faultOf, onChange }: ExpectationProps<ExpectationOf<"tools">>) {
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
          onChange={(next) => set({ args: JsonSchema.safeParse(next).data ?? { type: "object" } })}
        />
      )}
    </>
  );
}

/** What can be asked of a value. */
const LOOKS = [
  { value: "equals", label: "Is exactly" },
  { value: "contains", label: "Contains" },
  { value: "excludes", label: "Does not contain" },
  { value: "matches", label: "Matches a pattern" },
  { value: "schema", label: "Has a shape" },
] as const;

function TextFields({ expectation, faultOf, onChange }: ExpectationProps<ExpectationOf<"text">>) {
  const scope = useFormScope();
  const { key, of } = expectation;
  const looks = LOOKS.filter(({ value }) => expectation[value] !== undefined);
  const left = LOOKS.filter(({ value }) => expectation[value] === undefined);
  const set = (next: Change<ExpectationOf<"text">>) => onChange(changed(expectation, next));
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <SuggestField
          label="Key"
          mono
          error={faultOf("key")}
          suggestions={keySuggestions(scope)}
          value={key}
          onValueChange={(next) => set({ key: next.trim().replace(/^(state|output)\./, "") })}
        />
        <Select
          label="Of"
          options={[
            { value: "state", label: "The state at the end" },
            { value: "output", label: "What the run hands out" },
          ]}
          value={of}
          onValueChange={(next) => set({ of: next })}
        />
      </div>
      {looks.map((look) => (
        <LookField
          key={look.value}
          look={look}
          value={expectation[look.value]}
          error={faultOf(look.value)}
          onChange={(value) => set({ [look.value]: value })}
          onDrop={looks.length > 1 ? () => set({ [look.value]: undefined }) : undefined}
        />
      ))}
      {left.length > 0 ? (
        <Select
          label={looks.length === 0 ? "What it must say" : "And also"}
          hideLabel={looks.length > 0}
          size="sm"
          placeholder={looks.length === 0 ? "Choose…" : "And also…"}
          options={left}
          value={null}
          onValueChange={(look) => set({ [look]: look === "schema" ? { type: "string" } : "" })}
          fieldClassName="max-w-56"
        />
      ) : null}
    </>
  );
}

interface LookProps {
  look: (typeof LOOKS)[number];
  value: Json | JsonSchema | undefined;
  error: string | undefined;
  onChange: (value: Json | JsonSchema) => void;
}

function LookField({ onDrop, ...props }: LookProps & { onDrop: (() => void) | undefined }) {
  const { label } = props.look;
  return (
    <div className="flex flex-col gap-1">
      <LookValue {...props} />
      {onDrop ? (
        <Button size="sm" variant="ghost" className="self-start" onClick={onDrop}>
          Remove “{label}”
        </Button>
      ) : null}
    </div>
  );
}

function LookValue({ look: { value: look, label }, value, error, onChange }: LookProps) {
  if (look === "equals")
    return (
      <JsonField
        label={label}
        hint="As JSON: a text stands in quotes."
        error={error}
        value={value}
        onChange={(next) => onChange(asJson(next))}
      />
    );
  if (look === "schema")
    return (
      <JsonField
        label={label}
        hint="JSON Schema"
        error={error}
        value={value}
        check={(json) => (isObject(json) ? null : "A schema is an object { … }")}
        onChange={(next) => onChange(isObject(next) ? next : { type: "string" })}
      />
    );
  return (
    <TextField
      label={label}
      error={error}
      mono={look === "matches"}
      hint={look === "matches" ? "A regular expression; it may match anywhere." : undefined}
      value={typeof value === "string" ? value : ""}
      onValueChange={onChange}
    />
  );
}

/** What a JSON field gives; nothing written is null. */
const asJson = (value: unknown): Json => {
  const read = JsonValue.safeParse(value);
  return read.success ? read.data : null;
};
