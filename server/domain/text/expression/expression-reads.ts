import type { ASTNode } from "@marcbachmann/cel-js";
import { defined } from "@/server/domain/base/defined";
import type { TextDiagnostic } from "../text-diagnostic";
import { macroBinds } from "./expression-macros";
import type { Type } from "./expression-values";

/** The names that an expression may read, and which of them a tree does. */

const VARIABLES = ["state", "input", "nodes", "run"] as const;
/** Whose keys are known while a workflow is drawn. */
const READ_FROM = [...VARIABLES, "output"] as const;

const NAMES: readonly (readonly [string, Type])[] = [
  ...VARIABLES.map((name) => [name, "map"] as const),
  ["output", "dyn"],
  ["item", "dyn"],
  ["now", "timestamp"],
];
/** What each name stands for: its place among the values of an evaluation, and its type. */
export const names = {
  known: new Map(NAMES.map(([name, type], slot) => [name, { slot, type }])),
  size: NAMES.length,
};

/** A key of the state or of the input that an expression names. `optional`: it may be missing without harm. */
export interface KeyRead extends Omit<TextDiagnostic, "message"> {
  variable: (typeof READ_FROM)[number];
  key: string;
  optional: boolean;
  /** It follows "!": if it is missing, the whole condition is false all the same. */
  negated?: true;
}

export interface Walked {
  reads: KeyRead[];
  /** Names that stand for nothing that an expression may read. */
  bare: { name: string; from: number }[];
  diagnostic: TextDiagnostic | null;
}

/** Reads an expression's tree: which keys it names, and what it must not use. */
export function walk(root: ASTNode): Walked {
  const walked: Walked = { reads: [], bare: [], diagnostic: null };
  const refuse = (node: ASTNode, message: string) => {
    walked.diagnostic ??= { message, from: node.start, to: node.end };
  };
  // A stack instead of recursion: long chains of operators nest as deep as they are long.
  const stack: { node: ASTNode; bound: ReadonlySet<string>; optional: boolean; negated: boolean }[] = [
    { node: root, bound: new Set(), optional: false, negated: false },
  ];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { node, bound, optional, negated } = next;
    const visit = (inner: ASTNode, more: Partial<typeof next> = {}) =>
      stack.push({ node: inner, bound, optional: false, negated, ...more });
    switch (node.op) {
      case "value":
        break;
      case "id":
        if (!bound.has(node.args) && !names.known.has(node.args))
          walked.bare.push({ name: node.args, from: node.start });
        break;
      case ".":
      case ".?": {
        const [receiver, name] = node.args;
        addRead(walked.reads, node, receiver, name, bound, {
          optional: optional || node.op === ".?",
          negated,
        });
        visit(receiver);
        break;
      }
      case "[]":
      case "[?]": {
        const [receiver, index] = node.args;
        if (index.op === "value" && typeof index.args === "string")
          addRead(walked.reads, node, receiver, index.args, bound, {
            optional: optional || node.op === "[?]",
            negated,
          });
        visit(receiver);
        visit(index);
        break;
      }
      case "call": {
        const [name, args] = node.args;
        if (name === "matches")
          refuse(node, "Patterns (matches) are not available; use contains, startsWith or ==.");
        for (const arg of args) visit(arg, { optional: name === "has" });
        break;
      }
      case "rcall": {
        const [name, receiver, args] = node.args;
        if (name === "matches")
          refuse(node, "Patterns (matches) are not available; use contains, startsWith or ==.");
        if (name === "bind" && receiver.op === "id" && receiver.args === "cel")
          refuse(node, "cel.bind is not available; use a Transform node for a value in between.");
        visit(receiver);
        const binds = macroBinds(name, args);
        const inner = new Set(bound);
        for (const arg of args.slice(0, binds)) if (arg.op === "id") inner.add(arg.args);
        for (const arg of args.slice(binds)) visit(arg, { bound: inner });
        break;
      }
      case "map":
        for (const [key, value] of node.args) {
          visit(key);
          visit(value);
        }
        break;
      case "!_":
        visit(node.args, { negated: true });
        break;
      case "-_":
        visit(node.args);
        break;
      default:
        for (const arg of node.args) visit(arg);
    }
  }
  walked.reads.sort((a, b) => a.from - b.from);
  return walked;
}

function addRead(
  reads: KeyRead[],
  node: ASTNode,
  receiver: ASTNode,
  key: string,
  bound: ReadonlySet<string>,
  { optional, negated }: { optional: boolean; negated: boolean },
): void {
  if (receiver.op !== "id" || bound.has(receiver.args)) return;
  const variable = READ_FROM.find((name) => name === receiver.args);
  if (!variable) return;
  const place = { from: node.start, to: node.end };
  reads.push({ variable, key, optional, ...defined({ negated: negated || undefined }), ...place });
}
