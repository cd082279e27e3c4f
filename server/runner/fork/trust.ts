import { defined } from "@/server/domain/base/defined";
import { entriesOf } from "@/server/domain/base/guards";
import { isSameJson, textsIn } from "@/server/domain/base/json";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { ForeignText } from "@/server/domain/run/foreign-text";
import { isTrustedKey, type StartedBy } from "@/server/domain/run/started-by";
import { textHash } from "@/server/domain/text/text-hash";
import type { RunStore } from "@/server/store/runs/runs";
import { addedPhrases, tokenize } from "@/server/tools/user-provided-text";

/** Which parts of a run's start are untrusted. */
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
 * The trust of a run that starts with the input of another run, changed or not. Unchanged values keep their trust. `by` vouches
 * for changed values; if these contain untrusted text, only for the words that `by` added.
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

/** The trust of a new run. `from_run`: the run that its input comes from; `foreign`: the untrusted texts of its workflow. */
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

/** The untrusted parts of an input. */
function untrustedIn({ origin, foreign, input }: Parameters<typeof trustAfter>[0]): Json[] {
  const texts = new Set(foreign?.texts);
  return entriesOf(input).flatMap(([key, value]) =>
    isTrustedKey(origin, key) ? textsIn(value).filter((text) => texts.has(textHash(text))) : [value ?? null],
  );
}

/** A value and its field names as text, for comparing words. */
const asText = (value: Json | undefined): string =>
  JSON.stringify(value ?? null).replace(/\\(?:u[0-9a-f]{4}|.)/gi, " ");
