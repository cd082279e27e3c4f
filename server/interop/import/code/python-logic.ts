import type { Expr } from "./program";

/** A word of a logical expression: what is asked, or what joins it. */
export type Word = Expr | "and" | "or" | "not";

/** Logic as Python means it: `not` before `and` before `or`. Null where the words make no sense. */
export function balanced(words: readonly Word[]): Expr | null {
  const ors: Expr[] = [];
  let ands: Expr[] = [];
  let nots = 0;
  let wantsOperand = true;
  for (const word of words) {
    if (word === "not") {
      if (!wantsOperand) return null;
      nots++;
    } else if (typeof word === "string") {
      if (wantsOperand) return null;
      wantsOperand = true;
      if (word === "or") {
        ors.push(joined("&&", ands));
        ands = [];
      }
    } else {
      if (!wantsOperand) return null;
      ands.push(nots % 2 === 0 ? (nots === 0 ? word : negated(negated(word))) : negated(word));
      nots = 0;
      wantsOperand = false;
    }
  }
  if (wantsOperand) return null;
  return joined("||", [...ors, joined("&&", ands)]);
}

const negated = (of: Expr): Expr => ({ is: "not", of, from: of.from, to: of.to });

function joined(operator: "&&" | "||", operands: readonly Expr[]): Expr {
  return operands.reduce((left, right) => ({
    is: "binary",
    operator,
    left,
    right,
    from: left.from,
    to: right.to,
  }));
}
