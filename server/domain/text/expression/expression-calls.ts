import { must } from "@/server/domain/base/must";
import { type CelFunction, fits } from "../functions/define";
import { type Call, type Compile, type Compiled, CompileError, type Names } from "./expression-compiled";
import { functionsNamed } from "./expression-functions";
import { noFunction } from "./expression-hints";
import { EvaluationError, type Type, typeOf } from "./expression-values";

/** The cost of a call, besides visiting the node. */
const CALL_UNITS = 8;

/** Compiles a call: of the functions of that name, the one whose arguments fit, chosen now or when it runs. */
export function compileCall({ node, name, receiver, args }: Call, names: Names, compile: Compile): Compiled {
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
  const [first, ...others] = fitting;
  if (!first) throw new CompileError(noFunction(name, receiver !== null, types), node);
  const runs = values.map(({ run }) => run);
  return {
    type: others.every(({ gives }) => gives === first.gives) ? first.gives : "dyn",
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
