import type { ASTNode } from "@marcbachmann/cel-js";
import { defined } from "@/server/domain/base/defined";
import type { TextDiagnostic } from "../text-diagnostic";
import { macroBinds } from "./expression-macros";
import type { Type } from "./expression-values";

/** The names that an expression may read, and those that a tree reads. */

const VARIABLES = ["state", "input", "nodes", "run"] as const;
/** Variables whose keys are known while a workflow is edited. */
const READ_FROM = [...VARIABLES, "output", "vars"] as const;

const NAMES: readonly (readonly [string, Type])[] = [
  ...VARIABLES.map((name) => [name, "map"] as const),
  ["output", "dyn"],
  ["item", "dyn"],
  ["now", "timestamp"],
  ["index", "int"],
  ["vars", "dyn"],
];
/** The slot and the type of each name. */
export const names = {
  known: new Map(NAMES.map(([name, type], slot) => [name, { slot, type }])),
  size: NAMES.length,
};

/** A key that an expression reads. `optional`: it may be missing without harm. */
export interface KeyRead extends Omit<TextDiagnostic, "message"> {
  variable: (typeof READ_FROM)[number];
  key: string;
  optional: boolean;
  /** It follows "!": if it is missing, the whole condition is false all the same. */
  negated?: true;
}

export interface Walked {
  reads: KeyRead[];
  /** Names of nothing that an expression may read. */
  bare: { name: string; from: number }[];
  diagnostic: TextDiagnostic | null;
}

/** A node of the tree on the stack. */
interface Visit {
  node: ASTNode;
  /** Names that macros around it bind. */
  bound: ReadonlySet<string>;
  /** Its value may be missing without harm. */
  optional: boolean;
  /** It follows "!". */
  negated: boolean;
}

/** The keys that a tree reads, and the first thing in it that is not available. */
export function walk(root: ASTNode): Walked {
  const walked: Walked = { reads: [], bare: [], diagnostic: null };
  // A stack instead of recursion: long chains of operators nest as deep as they are long.
  const stack: Visit[] = [{ node: root, bound: new Set(), optional: false, negated: false }];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { node, bound, negated } = next;
    const refusal = refusalOf(node);
    if (refusal) walked.diagnostic ??= { message: refusal, from: node.start, to: node.end };
    const visit = (inner: ASTNode, more: Partial<Visit> = {}) =>
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
        addRead(walked.reads, next, receiver, name);
        visit(receiver);
        break;
      }
      case "[]":
      case "[?]": {
        const [receiver, index] = node.args;
        if (index.op === "value" && typeof index.args === "string")
          addRead(walked.reads, next, receiver, index.args);
        visit(receiver);
        visit(index);
        break;
      }
      case "call": {
        const [name, args] = node.args;
        for (const arg of args) visit(arg, { optional: name === "has" });
        break;
      }
      case "rcall": {
        const [name, receiver, args] = node.args;
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

/** Why a call is not available; null if it is, or if the node is no call. */
function refusalOf(node: ASTNode): string | null {
  if (node.op !== "call" && node.op !== "rcall") return null;
  const [name] = node.args;
  if (name === "matches") return "matches is not supported. Use contains, startsWith or ==.";
  if (node.op === "rcall" && name === "bind" && node.args[1].op === "id" && node.args[1].args === "cel")
    return "cel.bind is not supported. Use a Transform node for intermediate values.";
  return null;
}

function addRead(
  reads: KeyRead[],
  { node, bound, optional, negated }: Visit,
  receiver: ASTNode,
  key: string,
): void {
  if (receiver.op !== "id" || bound.has(receiver.args)) return;
  const variable = READ_FROM.find((name) => name === receiver.args);
  if (!variable) return;
  reads.push({
    variable,
    key,
    optional: optional || node.op === ".?" || node.op === "[?]",
    ...defined({ negated: negated || undefined }),
    from: node.start,
    to: node.end,
  });
}
