import { z } from "zod";
import { FinalStatus } from "@/server/domain/agent/outcome";
import { Id } from "@/server/domain/base/values";
import { ExpressionError, evaluateCondition, MAX_EXPRESSION_LENGTH } from "@/server/domain/text/expression";
import type { RunState } from "..";

/** What holds of a run that went well, and not of one that did not. */
export const BisectExpectation = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("status"), is: FinalStatus }).meta({ description: "How the run ends" }),
  z
    .strictObject({
      kind: z.literal("path"),
      nodes: z.array(Id).min(1).max(1000),
      mode: z.enum(["visited", "never"]).default("visited"),
    })
    .meta({ description: "All of these nodes run, or none of them does" }),
  z
    .strictObject({ kind: z.literal("state"), when: z.string().min(1).max(MAX_EXPRESSION_LENGTH) })
    .meta({ description: "A condition (CEL) over state, input, nodes and output at the end" }),
]);
export type BisectExpectation = z.infer<typeof BisectExpectation>;

/** Whether an expectation holds at the end of a run. Throws ExpressionError where its condition cannot be evaluated. */
export function isMet(expectation: BisectExpectation, state: RunState): boolean {
  switch (expectation.kind) {
    case "status":
      return state.run.final_status === expectation.is;
    case "path": {
      const ran = (id: string) =>
        Object.values(state.activations).some(({ node_id, attempt }) => node_id === id && attempt > 0);
      return expectation.mode === "visited" ? expectation.nodes.every(ran) : !expectation.nodes.some(ran);
    }
    case "state":
      return evaluateCondition(expectation.when, {
        state: state.state,
        input: state.input,
        nodes: state.outputs,
        output: state.run.output ?? {},
        run: { id: state.run.id, workflow_id: state.run.workflow_id },
        now: state.run.finished_at,
      }).value;
    default:
      return expectation satisfies never;
  }
}

/** The same, where a condition that cannot be evaluated at the end of a run does not hold there. */
export function holdsFor(expectation: BisectExpectation, state: RunState): boolean {
  try {
    return isMet(expectation, state);
  } catch (error) {
    if (error instanceof ExpressionError) return false;
    throw error;
  }
}

/** An expectation in words: the run ends as Completed. */
export function expectationInWords(expectation: BisectExpectation): string {
  switch (expectation.kind) {
    case "status":
      return `it ends as ${expectation.is}`;
    case "path":
      return expectation.mode === "visited"
        ? `it comes to ${expectation.nodes.join(", ")}`
        : `it does not come to ${expectation.nodes.join(", ")}`;
    case "state":
      return expectation.when;
    default:
      return expectation satisfies never;
  }
}
