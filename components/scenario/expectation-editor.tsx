"use client";

import { KINDS, newExpectation } from "@/components/display/expectation-words";
import { Select } from "@/components/ui/select";
import { keysOf } from "@/server/domain/base/guards";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { Expectation, ExpectationKind } from "@/server/domain/scenario/expectation";
import { ExpectationFields } from "./expectation-fields";
import type { ExpectationProps } from "./expectation-props";

/** An expectation: its kind, and the fields of that. `except`: kinds that cannot be had here. */
export function ExpectationEditor({
  expectation,
  graph,
  except = [],
  begin,
  faultOf,
  onChange,
}: ExpectationProps<Expectation> & {
  graph: WorkflowGraph;
  except?: readonly ExpectationKind[];
  /** What one of another kind begins with. */
  begin?: (kind: ExpectationKind) => Expectation;
}) {
  return (
    <>
      <Select
        label="Kind"
        options={keysOf(KINDS)
          .filter((kind) => !except.includes(kind))
          .map((value) => ({ value, ...KINDS[value] }))}
        value={expectation.kind}
        onValueChange={(kind) => {
          if (kind !== expectation.kind) onChange(begin ? begin(kind) : newExpectation(kind, graph));
        }}
        fieldClassName="max-w-72"
      />
      <ExpectationFields expectation={expectation} faultOf={faultOf} onChange={onChange} />
    </>
  );
}
