import type { Settled, StepRequest } from "@/server/domain/base/durable";
import type { Handle } from "../durable/handles";
import { AGREED, notRecorded, obstacle, questionOf, type RecordedAnswers } from "./recorded-answers";

/** What a recorded answer makes of a step that asks this; undefined: it is executed. `hash`: of its request. */
export function recordedAnswer(
  recorded: RecordedAnswers | undefined,
  request: StepRequest,
  { key, hash = "" }: Pick<Handle, "key" | "hash">,
): Settled | undefined {
  if (!recorded) return undefined;
  if (recorded.replay) return replayed(recorded, request, hash, key);
  if (request.again === "ask" || (request.isAgreed && !request.isInherited)) return undefined;
  const place = request.isAgreed ? hash + AGREED : hash;
  const found = recorded.next(place, request.again === "agree");
  recorded.note(place);
  if (found?.value === undefined || request.fits?.(found.value) === false) return undefined;
  const { value, run, isInFlight } = found;
  if (request.again !== "reuse")
    return { ok: false, error: obstacle({ why: isInFlight ? "in_flight" : "done_before", run, value }) };
  return isInFlight ? undefined : { ok: true, value, reused: run };
}

/** The answer that a replay is given; it makes no call. Where its original asked a person first, it asks as well. */
function replayed(
  recorded: RecordedAnswers,
  { kind, asked, isAgreed }: StepRequest,
  hash: string,
  key: string,
): Settled | undefined {
  const place = isAgreed ? hash + AGREED : hash;
  const found = recorded.next(place);
  recorded.note(place);
  if (found) {
    const { result, run } = found;
    return result.ok ? { ok: true, value: result.value, reused: run } : { ok: false, error: result.error };
  }
  // What a person agreed to in the original, which did not make the call, is no agreement for its replays.
  if (isAgreed && recorded.replay === "lenient" && !recorded.wasAnswered(questionOf(key))) return undefined;
  const difference = recorded.difference({ kind, asked: asked() });
  if (recorded.replay === "strict") return { ok: false, error: notRecorded(difference) };
  const { sentence } = difference;
  return { ok: false, error: obstacle({ why: "not_recorded", run: recorded.runId, difference: sentence }) };
}
