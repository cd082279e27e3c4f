import { defined } from "@/server/domain/base/defined";
import { entriesOf } from "@/server/domain/base/guards";
import { isSameJson, textsIn } from "@/server/domain/base/json";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { ForeignText } from "@/server/domain/run/foreign-text";
import { isTrustedKey, type StartedBy } from "@/server/domain/run/started-by";
import { textHash } from "@/server/domain/text/text-hash";
import type { RunStore } from "@/server/store/runs/runs";
import { addedPhrases, tokenize } from "@/server/tools/user-provided-text";

/** What of a run's beginning is no person's own words. */
interface Trust {
  origin?: StartedBy;
  foreign?: ForeignText;
}

/** The untrusted texts of a run and of the workflow that it continues with. */
export const joined = (
  before: ForeignText | undefined,
  now: ForeignText | undefined,
): ForeignText | undefined =>
  before && now
    ? { texts: [...new Set([...before.texts, ...now.texts])], allowed: now.allowed }
    : (before ?? now);

/**
 * Whose words a run has that begins with another's input, or with a changed one. What is the same keeps its trust. `by`
 * vouches for what they write, but not for untrusted text in it: there, only the words that they added are theirs.
 */
export function trustAfter(before: Trust & { input: JsonObject }, input: JsonObject, by: StartedBy): Trust {
  const { origin, foreign } = before;
  const source = origin && origin.trusted !== true ? origin : by;
  const changed = entriesOf(input).filter(([key, value]) => !isSameJson(value, before.input[key]));
  const kept = entriesOf(input).flatMap(([key, value]) =>
    isSameJson(value, before.input[key]) && isTrustedKey(origin, key) ? [key] : [],
  );
  if (!by.trusted) return { origin: { ...source, trusted: kept }, ...defined({ foreign }) };

  const outside = asText(untrustedIn(before));
  const isMixed = (text: string) =>
    tokenize(addedPhrases(text, outside).join(" ")).length < tokenize(text).length;
  const mixed = changed.flatMap(([, value]) => textsIn(value)).filter(isMixed);
  const own = changed.flatMap(([key, value]) => (isMixed(asText(value)) ? [] : [key]));
  const merged =
    mixed.length === 0
      ? foreign
      : {
          texts: [...new Set([...(foreign?.texts ?? []), ...mixed.map(textHash)])],
          allowed: [...(foreign?.allowed ?? []), ...mixed.flatMap((text) => addedPhrases(text, outside))],
        };
  return {
    origin: source === by ? by : { ...source, trusted: [...kept, ...own] },
    ...defined({ foreign: merged }),
  };
}

/** The same for a new run. `from_run`: the run whose input it gets; `foreign`: the untrusted texts of its workflow. */
export function trustAtStart(
  runs: Pick<RunStore, "state">,
  start: { origin?: StartedBy | undefined; from_run?: string | undefined; input: JsonObject },
  foreign: ForeignText | undefined,
): Trust {
  const { origin, from_run, input } = start;
  const earlier = from_run === undefined ? undefined : runs.state(from_run);
  if (!earlier || !origin) return defined({ origin, foreign });
  const texts = defined({ foreign: joined(earlier.run.foreign, foreign) });
  return trustAfter({ ...earlier.run, ...texts, input: earlier.input }, input, origin);
}

/** What of an input no person vouches for. */
function untrustedIn({ origin, foreign, input }: Parameters<typeof trustAfter>[0]): Json[] {
  const texts = new Set(foreign?.texts);
  return entriesOf(input).flatMap(([key, value]) =>
    isTrustedKey(origin, key) ? textsIn(value).filter((text) => texts.has(textHash(text))) : [value ?? null],
  );
}

/** A value with the names of its fields, as text whose words can be compared. */
const asText = (value: Json | undefined): string =>
  JSON.stringify(value ?? null).replace(/\\(?:u[0-9a-f]{4}|.)/gi, " ");
