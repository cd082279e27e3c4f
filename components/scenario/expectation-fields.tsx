"use client";

import { KINDS, newExpectation, nodeChoices } from "@/components/display/describe-expectation";
import { ExpressionField } from "@/components/forms/fields/expression-field";
import { ModelChoice } from "@/components/forms/fields/model-choice";
import { FormParts } from "@/components/forms/form-parts";
import { useFormScope } from "@/components/forms/form-scope";
import { keySuggestions } from "@/components/forms/key-facts";
import { SchemaField } from "@/components/forms/schema/schema-field";
import { ToolField } from "@/components/forms/tools/tool-fields";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/input/checkbox";
import { NumberField } from "@/components/ui/input/number-field";
import { Select } from "@/components/ui/input/select";
import { SuggestField } from "@/components/ui/input/suggest-field";
import { withSetting } from "@/server/domain/base/form";
import { keysOf } from "@/server/domain/base/guards";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { Expectation, ExpectationKind, ExpectationOf } from "@/server/domain/scenario/expectation";
import { EXPECTATION_FORMS, type ExpectationSlot, TEXT_CHECKS } from "./expectation-forms";
import { NodeSelect, NodeSequence } from "./node-select";
import type { ErrorsByPlace } from "./test-draft";

interface ExpectationProps<E extends Expectation> {
  expectation: E;
  /** By field. */
  errors: ErrorsByPlace;
  onChange: (next: E) => void;
}

/** An expectation: its kind, and the fields of that. `except`: kinds that are not available here. */
export function ExpectationEditor({
  graph,
  except = [],
  begin,
  ...props
}: ExpectationProps<Expectation> & {
  graph: WorkflowGraph;
  except?: readonly ExpectationKind[];
  /** What one of another kind begins with. */
  begin?: (kind: ExpectationKind) => Expectation;
}) {
  const { expectation, onChange } = props;
  return (
    <>
      <Select
        label="Type"
        options={keysOf(KINDS)
          .filter((kind) => !except.includes(kind))
          .map((value) => ({ value, ...KINDS[value] }))}
        value={expectation.kind}
        onValueChange={(kind) => {
          if (kind !== expectation.kind) onChange(begin ? begin(kind) : newExpectation(kind, graph));
        }}
        fieldClassName="max-w-72"
      />
      <ExpectationFields kind={expectation.kind} {...props} />
    </>
  );
}

function ExpectationFields<K extends ExpectationKind>({
  kind,
  expectation,
  errors,
  onChange,
}: ExpectationProps<ExpectationOf<K>> & { kind: K }) {
  const props = {
    expectation,
    errors,
    set: (key: string, value: unknown) => onChange(withSetting(expectation, key, value)),
  };
  return (
    <FormParts<ExpectationOf<K>, ExpectationSlot>
      parts={EXPECTATION_FORMS[kind]}
      value={expectation}
      errors={errors}
      onChange={onChange}
      slots={{
        own: <OwnFields {...props} />,
        key: <KeyField {...props} />,
        model: <JudgeModel {...props} />,
        checks: <TextChecks {...props} />,
      }}
    />
  );
}

interface SlotProps {
  expectation: Expectation;
  errors: ErrorsByPlace;
  set: (key: string, value: unknown) => void;
}

/** Fields that form data cannot express. */
function OwnFields({ expectation, errors, set }: SlotProps) {
  const choices = nodeChoices(useFormScope().graph);
  switch (expectation.kind) {
    case "path":
      return (
        <NodeSequence
          label="Nodes"
          error={errors.nodes}
          nodes={expectation.nodes}
          choices={choices}
          onChange={(nodes) => set("nodes", nodes)}
        />
      );
    case "questions":
      return (
        <NodeSequence
          label="Asked by"
          hint="One node per question, in any order. Leave empty for any node."
          error={errors.nodes}
          nodes={expectation.nodes ?? []}
          choices={choices}
          onChange={(nodes) => set("nodes", nodes.length > 0 ? nodes : undefined)}
        />
      );
    case "visits":
      return (
        <NodeSelect
          label="Node"
          value={expectation.node}
          error={errors.node}
          choices={choices}
          onChange={(id) => set("node", id ?? "")}
        />
      );
    case "state":
      return (
        <ExpressionField
          label="Condition"
          result="bool"
          variables={["output", "input"]}
          error={errors.when}
          value={expectation.when}
          onChange={(when) => set("when", when)}
        />
      );
    case "tools":
      return <ToolFields expectation={expectation} errors={errors} set={set} />;
    default:
      return null;
  }
}

function KeyField({ expectation, errors, set }: SlotProps) {
  const suggestions = keySuggestions(useFormScope());
  if (expectation.kind !== "text" && expectation.kind !== "judge") return null;
  const isOptional = expectation.kind === "judge";
  return (
    <SuggestField
      label="Key"
      aside={isOptional ? "Default: entire output" : undefined}
      mono
      error={errors.key}
      suggestions={suggestions}
      value={expectation.key ?? ""}
      onValueChange={(next) => {
        const key = next.trim().replace(/^(state|output)\./, "");
        set("key", isOptional ? key || undefined : key);
      }}
    />
  );
}

function JudgeModel({ expectation, set }: SlotProps) {
  if (expectation.kind !== "judge") return null;
  const { model = {} } = expectation;
  return (
    <div className="grid grid-cols-2 gap-3">
      <ModelChoice
        choice={model}
        hasDefault
        onChange={(change) => {
          const { provider_id, model: name } = { ...model, ...change };
          const next = { ...(provider_id ? { provider_id } : {}), ...(name ? { model: name } : {}) };
          set("model", Object.keys(next).length > 0 ? next : undefined);
        }}
      />
    </div>
  );
}

/** Adds and removes checks of a text. */
function TextChecks({ expectation, set }: SlotProps) {
  if (expectation.kind !== "text") return null;
  const added = TEXT_CHECKS.filter(({ key }) => expectation[key] !== undefined);
  const left = TEXT_CHECKS.filter(({ key }) => expectation[key] === undefined);
  const isFirst = added.length === 0;
  return (
    <>
      {added.length > 1 ? (
        <div className="flex flex-wrap gap-1">
          {added.map(({ key, label }) => (
            <Button key={key} size="sm" variant="ghost" onClick={() => set(key, undefined)}>
              Remove “{label}”
            </Button>
          ))}
        </div>
      ) : null}
      {left.length > 0 ? (
        <Select
          label={isFirst ? "Check" : "Another check"}
          hideLabel={!isFirst}
          size="sm"
          placeholder={isFirst ? "Choose a check…" : "Add another check…"}
          options={left.map(({ key, label }) => ({ value: key, label }))}
          value={null}
          onValueChange={(key) => set(key, key === "schema" ? { type: "string" } : "")}
          fieldClassName="max-w-56"
        />
      ) : null}
    </>
  );
}

const CALLS = [
  { value: "yes", label: "Called" },
  { value: "no", label: "Not called" },
  { value: "times", label: "Called exactly" },
] as const;

/** Which tool is called, how often, by which node and with what; or that it is not. */
function ToolFields({ expectation, errors, set }: SlotProps & { expectation: ExpectationOf<"tools"> }) {
  const { graph } = useFormScope();
  const { tool, called, node, args } = expectation;
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <ToolField
          label="Tool"
          error={errors.tool}
          value={tool}
          onChange={(name) => set("tool", typeof name === "string" ? name : "")}
        />
        <Select
          label="Calls"
          hint="Blocked calls don't count"
          options={CALLS}
          value={typeof called === "number" ? "times" : called ? "yes" : "no"}
          onValueChange={(how) => set("called", how === "times" ? 1 : how === "yes")}
        />
        {typeof called === "number" ? (
          <NumberField
            label="Call count"
            min={0}
            step={1}
            value={called}
            onValueChange={(next) => set("called", next ?? 0)}
          />
        ) : null}
        <NodeSelect
          label="Called by"
          anyLabel="Any node"
          value={node}
          error={errors.node}
          choices={nodeChoices(graph)}
          onChange={(id) => set("node", id)}
        />
      </div>
      <Checkbox
        label="Match arguments"
        checked={args !== undefined}
        onCheckedChange={(has) => set("args", has ? { type: "object" } : undefined)}
      />
      {args === undefined ? null : (
        <SchemaField
          label="Arguments"
          itemName="argument"
          error={errors.args}
          value={args}
          onChange={(next) => set("args", next ?? { type: "object" })}
        />
      )}
    </>
  );
}
