import { EvaluationError, Optional } from "../expression/expression-values";
import { type CelFunction, define } from "./define";

/** Values that may be missing. */
export const optionalFunctions: readonly CelFunction[] = [
  define("optional.of(dyn): optional", "", (_, value: unknown) => Optional.of(value)),
  {
    name: "optional.none",
    on: null,
    args: [],
    gives: "optional",
    signature: "optional.none()",
    hint: "",
    run: () => Optional.none,
  },
  define("optional.hasValue(): bool", "", (_, value: Optional) => value.held !== undefined),
  define("optional.value(): dyn", "", (_, { held }: Optional) => {
    if (held === undefined) throw new EvaluationError("The optional value is missing.", "value");
    return held;
  }),
];
