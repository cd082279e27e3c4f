import { checkExpression, MAX_EXPRESSION_LENGTH } from "@/server/domain/text/expression/expression";
import { Breakpoint } from "./breakpoint";

/*
 * Apart from the shape of a breakpoint, which stands in every drawing's schema: a drawing opens in the browser without a
 * parser of expressions.
 */

/** A breakpoint whose condition can be read. */
export const CheckedBreakpoint = Breakpoint.extend({
  condition: Breakpoint.shape.condition.superRefine((text, context) => {
    for (const message of conditionErrors(text)) context.addIssue({ code: "custom", message });
  }),
});

/** What is wrong with the conditions of breakpoints; the first fault as a sentence, null where there is none. */
export function breakpointsError(breakpoints: readonly Breakpoint[]): string | null {
  for (const { condition } of breakpoints) {
    const [message] = conditionErrors(condition);
    if (message !== undefined) return `Can't read the breakpoint condition "${condition}": ${message}`;
  }
  return null;
}

function conditionErrors(text: string | undefined): string[] {
  if (text === undefined) return [];
  if (text.length > MAX_EXPRESSION_LENGTH) return [`Use at most ${MAX_EXPRESSION_LENGTH} characters.`];
  return checkExpression(text, { result: "bool" }).map(({ message }) => message);
}
