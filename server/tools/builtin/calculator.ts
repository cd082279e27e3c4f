import { z } from "zod";
import { defineTool, ToolFailure } from "../define";

const CONSTANTS = new Map([
  ["pi", Math.PI],
  ["e", Math.E],
]);
const FUNCTIONS = new Map<string, (...numbers: number[]) => number>([
  ["abs", Math.abs],
  ["sqrt", Math.sqrt],
  ["cbrt", Math.cbrt],
  ["round", (x, digits = 0) => Math.round(x * 10 ** digits) / 10 ** digits],
  ["floor", Math.floor],
  ["ceil", Math.ceil],
  ["trunc", Math.trunc],
  ["ln", Math.log],
  ["log10", Math.log10],
  ["log2", Math.log2],
  ["exp", Math.exp],
  ["sin", Math.sin],
  ["cos", Math.cos],
  ["tan", Math.tan],
  ["min", Math.min],
  ["max", Math.max],
]);
/** How tightly an operator binds. */
const BINDING = new Map([
  ["+", 1],
  ["-", 1],
  ["*", 2],
  ["/", 2],
  ["%", 2],
  ["^", 4],
]);
const SIGN_BINDING = 3;
const MAX_DEPTH = 100;

/** The value of an arithmetic expression in doubles. Throws ToolFailure(400) saying what cannot be read, and where. */
export function calculate(text: string): number {
  const tokens = [
    ...text
      .replaceAll("**", "^")
      .matchAll(/\s*(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|[A-Za-z_]\w*|\S)/guy),
  ].map(([, token = ""]) => token);
  let at = 0;
  const wrong = (token: string | undefined): never => {
    throw new ToolFailure(
      400,
      token === undefined
        ? "The expression ends early."
        : `Unexpected "${token}". Use numbers, + - * / % ^ ( ), pi, e, and ${[...FUNCTIONS.keys()].join(", ")}.`,
    );
  };
  const expect = (token: string) => (tokens[at] === token ? at++ : wrong(tokens[at]));

  const operand = (depth: number): number => {
    if (depth > MAX_DEPTH)
      throw new ToolFailure(400, `The expression is nested deeper than ${MAX_DEPTH} levels.`);
    const token = tokens[at++];
    if (token === undefined) return wrong(token);
    if (/^[\d.]/.test(token) && token !== ".") return Number(token);
    if (token === "-") return -terms(SIGN_BINDING, depth + 1);
    if (token === "+") return terms(SIGN_BINDING, depth + 1);
    if (token === "(") {
      const value = terms(0, depth + 1);
      expect(")");
      return value;
    }
    const constant = CONSTANTS.get(token.toLowerCase());
    if (constant !== undefined) return constant;
    const apply = FUNCTIONS.get(token.toLowerCase());
    if (!apply) return wrong(token);
    expect("(");
    const numbers = [terms(0, depth + 1)];
    while (tokens[at] === ",") {
      at++;
      numbers.push(terms(0, depth + 1));
    }
    expect(")");
    return apply(...numbers);
  };

  /** An operand and everything after it that binds tighter than `binding`. */
  const terms = (binding: number, depth: number): number => {
    let value = operand(depth);
    for (;;) {
      const operator = tokens[at] ?? "";
      const next = BINDING.get(operator) ?? 0;
      if (next <= binding) return value;
      at++;
      // Powers are worked out from the right.
      value = apply(operator, value, terms(operator === "^" ? next - 1 : next, depth + 1));
    }
  };

  const value = terms(0, 0);
  if (at < tokens.length) return wrong(tokens[at]);
  if (!Number.isFinite(value))
    throw new ToolFailure(
      400,
      Number.isNaN(value) ? "That has no value." : "That is a division by zero, or too large.",
    );
  return value;
}

function apply(operator: string, a: number, b: number): number {
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "%":
      return a % b;
    default:
      return a ** b;
  }
}

export const calculator = () =>
  defineTool({
    name: "calculator",
    description:
      "Evaluates an arithmetic expression, for example (3 + 4) * 2^10 / sqrt(2). Use it instead of calculating in your head.",
    input: z.object({ expression: z.string().min(1).max(1_000) }),
    source: "builtin",
    home: "worker",
    risk: "LOW",
    read_only: true,
    idempotent: true,
    // Binary fractions would show as 0.30000000000000004.
    execute: ({ expression }) => ({ value: Number(calculate(expression).toPrecision(15)) }),
  });
