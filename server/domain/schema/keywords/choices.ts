import { must } from "@/server/domain/base/must";
import {
  both,
  type Check,
  MAX_ERRORS,
  type Node,
  type Place,
  type Run,
  type ValidationError,
  type Verdict,
} from "../check";
import { isObject, orList, shown } from "../values";
import { type Keyword, type Making, misread } from "./keyword";

/** Schemas that are applied to the same value: all of them, one of them, none, or one where another holds. */

/** The nodes of a list of schemas; null where it is none. */
function list(rule: unknown, making: Making, word: string): Node[] | null {
  if (!Array.isArray(rule) || rule.length === 0) return misread(making, word, "a list of schemas");
  return rule.map((inner, n) => making.node(inner, word, String(n)));
}

export const allOf: Keyword = (rule, making) => {
  const nodes = list(rule, making, "allOf");
  return (
    nodes &&
    ((value, place, run, seen) => {
      let verdict: Verdict = "yes";
      for (const node of nodes) {
        verdict = both(verdict, run.check(node, value, place, seen));
        if (verdict === "no" && !run.errors) break;
      }
      return verdict;
    })
  );
};

/** `isOne`: a value may fit only one of them. */
export const choice =
  (word: string, isOne: boolean): Keyword =>
  (rule, making) => {
    const nodes = list(rule, making, word);
    return (
      nodes &&
      ((value, place, run, seen) => {
        const fitting: number[] = [];
        let isUnsure = false;
        const why: ValidationError[][] = [];
        for (const [n, node] of nodes.entries()) {
          run.work.spend(40);
          const errors: ValidationError[] | null = run.errors ? [] : null;
          const verdict = run.aside(errors, () => run.check(node, value, place, seen));
          if (verdict === "yes") fitting.push(n + 1);
          isUnsure ||= verdict === "unknown";
          if (errors && verdict === "no") why.push(errors);
          // Others may still tell what was looked at.
          if (!seen && (isOne ? fitting.length > 1 : fitting.length > 0)) break;
        }
        if (isOne && fitting.length > 1)
          return run.refuse(
            place,
            `matches more than one of the ${nodes.length} schemas of which exactly one must match (${fitting.join(" and ")})`,
          );
        if (isUnsure && !(fitting.length > 0 && !isOne)) return "unknown";
        return fitting.length > 0 ? "yes" : refuseAll(why, place, run);
      })
    );
  };

/** Says of a value that fits no alternative what would have been closest. */
function refuseAll(why: readonly ValidationError[][], place: Place | null, run: Run): "no" {
  if (!run.errors) return "no";
  run.work.spend(why.length * 10);
  const here: ValidationError["path"] = [];
  for (let up = place; up; up = up.parent) here.unshift(up.key);
  const isHere = ({ path }: ValidationError) => path.length === here.length;
  // Alternatives for the same place are reported as one error.
  const single = why.map((errors) =>
    errors.length === 1 && isHere(must(errors, 0)) ? must(errors, 0).wanted : undefined,
  );
  if (single.every((errors) => errors !== undefined)) {
    const allowed = [...new Set(single.flat())];
    return run.refuse(place, `must be ${orList(allowed)}`, allowed);
  }
  // An alternative of another type isn't what was meant.
  const meant = why.filter((errors) => !errors.some((error) => isHere(error) && error.wanted));
  const closest = [...(meant.length > 0 ? meant : why)].sort((a, b) => a.length - b.length)[0] ?? [];
  if (meant.length <= 1 && closest.length > 0) {
    for (const error of closest) if (run.errors.length < MAX_ERRORS) run.errors.push(error);
    return "no";
  }
  const [first] = closest;
  const inside = first?.path.slice(here.length).join(".");
  return run.refuse(
    place,
    `fits none of the ${why.length} allowed shapes${first ? ` (closest: ${inside ? `${inside} ` : ""}${first.message})` : ""}`,
  );
}

export const not: Keyword = (rule, making) => {
  const node = making.node(rule, "not");
  const inner = isObject(rule) ? rule : {};
  const options = Array.isArray(inner.enum) ? inner.enum : "const" in inner ? [inner.const] : null;
  const message = options
    ? `must not be ${orList(options.slice(0, 12).map(shown))}`
    : Array.isArray(inner.required) && Object.keys(inner).length === 1
      ? `must not have ${inner.required.map(String).join(" and ")}${inner.required.length > 1 ? " together" : ""}`
      : "is what its schema excludes (not)";
  return (value, place, run) => {
    const verdict = run.aside(null, () => run.check(node, value, place, null));
    if (verdict === "yes") return run.refuse(place, message);
    return verdict === "no" ? "yes" : "unknown";
  };
};

export function conditional(making: Making): Check | null {
  const { schema } = making;
  if (schema.if === undefined) return null;
  const branch = (word: string) => (schema[word] === undefined ? null : making.node(schema[word], word));
  const condition = making.node(schema.if, "if");
  const yes = branch("then");
  const no = branch("else");
  return (value, place, run, seen) => {
    run.work.spend(40);
    const verdict = run.aside(null, () => run.check(condition, value, place, seen));
    const follow = (node: Node | null): Verdict => (node ? run.check(node, value, place, seen) : "yes");
    if (verdict === "yes") return follow(yes);
    if (verdict === "no") return follow(no);
    // Nobody knows which of them holds, so only what breaks both is refused.
    const either = run.aside(null, () => [follow(yes), follow(no)]);
    return either.every((one) => one === "no")
      ? run.refuse(place, "matches neither branch of if, then and else")
      : "unknown";
  };
}
