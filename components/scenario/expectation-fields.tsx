"use client";

import { nodeChoices, PATH_MODES } from "@/components/display/expectation-words";
import { ExpressionField } from "@/components/forms/expression-field";
import { useFormScope } from "@/components/forms/form-scope";
import { NumberField } from "@/components/ui/number-field";
import { Select } from "@/components/ui/select";
import { TextField } from "@/components/ui/text-field";
import { FINAL_STATUS_WORDS, FinalStatus } from "@/server/domain/agent/outcome";
import type { Expectation, ExpectationOf } from "@/server/domain/scenario/expectation";
import { type Change, changed } from "./changed";
import { type ExpectationProps, shownNumber } from "./expectation-props";
import { JudgeFields } from "./judge-fields";
import { NodeSelect, NodeSequence } from "./node-select";
import { TextExpectationFields } from "./text-expectation-fields";
import { ToolExpectationFields } from "./tool-expectation-fields";

const orNone = (number: number | null) => number ?? undefined;
const orNothing = (text: string) => (text === "" ? undefined : text);

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
      return <TextExpectationFields expectation={expectation} {...rest} />;
    case "questions":
      return <QuestionFields expectation={expectation} {...rest} />;
    case "tools":
      return <ToolExpectationFields expectation={expectation} {...rest} />;
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
      <NodeSequence
        label="Nodes"
        error={faultOf("nodes")}
        nodes={nodes}
        choices={choices}
        onChange={(next) => onChange({ ...expectation, nodes: next })}
      />
    </>
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
      <NodeSequence
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
