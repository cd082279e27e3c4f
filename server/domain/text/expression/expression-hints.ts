import { functionsNamed } from "./expression-functions";
import type { Type } from "./expression-values";

/** Hints for names that expressions don't know, or know by another name. */

export function unknownName(name: string): string {
  const hint = NAME_HINTS.get(name);
  if (hint) return `Unknown name "${name}"; ${hint}.`;
  return `Unknown name "${name}". Read values of the run as state.${name}, and put text in quotes.`;
}

// What people bring from other languages.
const NAME_HINTS = new Map([
  ["True", "write true"],
  ["False", "write false"],
  ["None", "write null"],
  ["nil", "write null"],
  ["undefined", "use has(state.key) to check if a key exists"],
  ["not", "write ! for not"],
  ["Math", "write math, as in math.round(x)"],
  ["math", "call one of its functions, as in math.round(x)"],
  ["today", "write now"],
]);

const FUNCTION_HINTS = new Map([
  ["len", "size(x)"],
  ["length", "x.size()"],
  ["count", "x.size()"],
  ["includes", "x.contains(y)"],
  ["lower", "x.lowerAscii()"],
  ["toLowerCase", "x.lowerAscii()"],
  ["upper", "x.upperAscii()"],
  ["toUpperCase", "x.upperAscii()"],
  ["strip", "x.trim()"],
  ["now", "now, without parentheses"],
  ["str", "string(x)"],
  ["toString", "string(x)"],
  ["float", "double(x)"],
  ["number", "double(x)"],
  ["any", "x.exists(item, item > 0)"],
  ["some", "x.exists(item, item > 0)"],
  ["every", "x.all(item, item > 0)"],
  ["sorted", "x.sort()"],
  ["reversed", "x.reverse()"],
  ["unique", "x.distinct()"],
  ["avg", "x.sum() / x.size()"],
  ["replaceAll", "x.replace(a, b)"],
  ["substr", "x.substring(from, to)"],
  ["push", "x + [item]"],
  ["append", "x + [item]"],
  ["exists", "has(state.key), or list.exists(item, item > 0)"],
  ["defined", "has(state.key)"],
  ["isEmpty", "x.size() == 0"],
  ...["round", "floor", "ceil", "abs", "sqrt", "min", "max"].map(
    (name) => [name, `math.${name}(x)`] as const,
  ),
]);

/** What other dialects of the language have for values that may be missing. */
export const NO_OPTIONAL_SYNTAX =
  "Optional entries ({?k: x}, [?x]), ??, optMap and ofNonZeroValue are not supported. Write has(x) ? ... : ... instead.";
const OPTIONAL_FUNCTIONS = new Set(["optMap", "optFlatMap", "ofNonZeroValue", "optional.ofNonZeroValue"]);

/** In words that there is no such function; `types`: what it was called with, null if none of that name fits at all. */
export function noFunction(name: string, isMethod: boolean, types: readonly Type[] | null): string {
  if (OPTIONAL_FUNCTIONS.has(name)) return NO_OPTIONAL_SYNTAX;
  const shown = (type: Type | undefined) => (type === "dyn" || type === undefined ? "value" : type);
  const call =
    types === null
      ? `${isMethod ? "value." : ""}${name}()`
      : isMethod
        ? `${shown(types[0])}.${name}(${types.slice(1).map(shown).join(", ")})`
        : `${name}(${types.map(shown).join(", ")})`;
  const others = [...functionsNamed(name, isMethod), ...functionsNamed(name, !isMethod)];
  const inMath = functionsNamed(`math.${name}`, false);
  const known = others.map(({ signature }) =>
    signature.replaceAll("whole", "number").replaceAll("dyn", "value"),
  );
  const hint = FUNCTION_HINTS.get(name) ?? (inMath.length > 0 ? `math.${name}(x)` : undefined);
  if (known.length > 0)
    return `There is no function ${call}. Available: ${[...new Set(known)].slice(0, 4).join(", ")}.`;
  return hint ? `There is no function ${call}. Write ${hint}.` : `There is no function ${call}.`;
}

/** Labels of types. */
export const TYPE_LABELS: Readonly<Record<Type, string>> = {
  dyn: "any value",
  null: "nothing (null)",
  bool: "true or false",
  int: "a number",
  uint: "a number",
  double: "a number",
  string: "text",
  bytes: "bytes",
  list: "a list",
  map: "an object",
  timestamp: "a time",
  duration: "a duration",
  optional: "a value that may be missing; add .orValue(false)",
  type: "a type",
};
