import { errorMessage } from "@/server/domain/base/guards";
import { isSameJson, newRecord } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";
import { compileRegex } from "@/server/domain/regex/regex";
import { writtenKeys } from "@/server/domain/run/past/key-history";
import { errorTexts, newWork, readSchema } from "@/server/domain/schema/schema";
import {
  type ExpressionScope,
  evaluateCondition,
  expressionKeys,
} from "@/server/domain/text/expression/expression";
import type { ExpectationOf } from "../expectation";
import { type At, type Finding, found, lastOf, placeOf, type Seen, shown } from "./finding";

export function checkState(seen: Seen, { when }: ExpectationOf<"state">): Finding {
  const keys = expressionKeys(when);
  const at = writtenAt(seen, keys);
  const values = Object.fromEntries(keys.map((key) => [key, seen.state.state[key] ?? null]));
  const so = keys.map((key) => `${key} is ${shown(seen.state.state[key])}`).join(", ");
  try {
    const { value, note } = evaluateCondition(when, scopeOf(seen));
    const sentence = value
      ? `${when} holds.`
      : `Expected ${when}, but it is false${so ? `: ${so}` : ""}.${note ? ` ${note}` : ""}`;
    return found(value, sentence, { expected: when, seen: values, ...at });
  } catch (error) {
    return found(false, `${when} can't be evaluated: ${errorMessage(error)}`, {
      expected: when,
      seen: values,
      ...at,
    });
  }
}

/** The variables of a condition on a finished run. */
function scopeOf({ state, events }: Seen): ExpressionScope {
  return {
    state: state.state,
    input: state.input,
    nodes: newRecord<Json>(state.outputs),
    run: { id: state.run.id },
    output: state.run.output ?? null,
    now: events.at(-1)?.ts,
  };
}

export function checkText(seen: Seen, expectation: ExpectationOf<"text">): Finding {
  const { key, of } = expectation;
  const value = valueOf(seen, key, of);
  const at = writtenAt(seen, [key]);
  if (value === undefined) return found(false, `${key} is missing at the end.`, { seen: null, ...at });
  const error = textError(value, expectation);
  const about = { seen: value, ...at };
  return error === null
    ? found(true, `${key} has the expected content.`, about)
    : found(false, `${key} ${error}`, about);
}

/** A value of the final state or output. */
export function valueOf(
  { state }: Pick<Seen, "state">,
  key: string,
  of: "state" | "output",
): Json | undefined {
  const values: Readonly<Record<string, Json>> = of === "state" ? state.state : (state.run.output ?? {});
  return Object.hasOwn(values, key) ? values[key] : undefined;
}

/** Why a value fails, as the rest of a sentence that begins with its key; null if it does not. */
function textError(
  value: Json,
  { contains, excludes, matches, equals, schema }: ExpectationOf<"text">,
): string | null {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (equals !== undefined && !isSameJson(value, equals))
    return `should be ${shown(equals)}, but is ${shown(value)}.`;
  if (contains !== undefined && !text.includes(contains))
    return `should contain ${shown(contains)}, but is ${shown(value)}.`;
  if (excludes !== undefined && text.includes(excludes))
    return `should not contain ${shown(excludes)}, but is ${shown(value)}.`;
  if (matches !== undefined) {
    try {
      if (!compileRegex(matches).test(text, newWork()))
        return `should match ${matches}, but is ${shown(value)}.`;
    } catch (error) {
      return `can't be matched against the pattern ${matches}: ${errorMessage(error)}`;
    }
  }
  if (schema === undefined) return null;
  try {
    const errors = readSchema(schema).errors(value);
    return errors.length > 0 ? `violates the schema: ${errorTexts(errors).join(" ")}` : null;
  } catch (error) {
    return `can't be validated: ${errorMessage(error)}`;
  }
}

/** Where one of the keys was last written, or else the end. */
function writtenAt(seen: Seen, keys: readonly string[]): At {
  const wanted = new Set(keys);
  return placeOf(
    (wanted.size > 0
      ? seen.events.findLast((event) => writtenKeys(event).some((key) => wanted.has(key)))
      : undefined) ?? lastOf(seen),
  );
}
