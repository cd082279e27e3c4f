import type { ASTNode } from "@marcbachmann/cel-js";
import { must, present } from "@/server/domain/base/must";
import { type CelFunction, fits } from "../functions/define";
import { type Compile, type Compiled, CompileError, type Names } from "./expression-compiled";
import { functionsNamed } from "./expression-functions";
import { noFunction } from "./expression-hints";
import { EvaluationError, type Type, typeOf } from "./expression-values";

/** What calling a function costs beyond visiting the node. */
const CALL_UNITS = 8;

/** A call of a function, of those of its name the one whose arguments fit: known before it runs, or then. */
export function compileCall(
  node: ASTNode,
  name: string,
  receiver: ASTNode | null,
  args: readonly ASTNode[],
  names: Names,
  compile: Compile,
): Compiled {
  const written = receiver ? [receiver, ...args] : args;
  const named = functionsNamed(name, receiver !== null).filter(
    (candidate) => candidate.args.length === args.length,
  );
  if (named.length === 0) {
    // Reported first: the receiver may be unknown as well.
    throw new CompileError(noFunction(name, receiver !== null, null), node);
  }
  const values = written.map((arg) => compile(arg, names));
  const types = values.map(({ type }) => type);
  const fitting = named.filter((candidate) => accepts(candidate, types));
  if (fitting.length === 0) throw new CompileError(noFunction(name, receiver !== null, types), node);
  const runs = values.map(({ run }) => run);
  const [first] = fitting;
  return {
    type: fitting.every(({ gives }) => gives === present(first, "first").gives)
      ? present(first, "first").gives
      : "dyn",
    run: (frame) => {
      frame.work.spend(CALL_UNITS);
      const given = runs.map((run) => run(frame));
      frame.at = node;
      const found = given.map(typeOf);
      const chosen = fitting.find((candidate) => accepts(candidate, found));
      if (!chosen) throw new EvaluationError(noFunction(name, receiver !== null, found));
      return chosen.run(frame.work, ...given);
    },
  };
}

function accepts(candidate: CelFunction, types: readonly Type[]): boolean {
  const kinds = candidate.on === null ? candidate.args : [candidate.on, ...candidate.args];
  return kinds.every((kind, i) => fits(kind, must(types, i)));
}
