import type { Settled, StepRequest } from "@/server/domain/base/durable";
import { AGREED, notRecorded, obstacle, obstacleOf, type RecordedAnswers } from "./recorded-answers";

/** What a recorded answer makes of a step that asks this; undefined: it is carried out. `hash`: of its request. */
export function recordedAnswer(
  recorded: RecordedAnswers | undefined,
  request: StepRequest,
  hash: string,
): Settled | undefined {
  if (!recorded) return undefined;
  if (recorded.replay) return replayed(recorded, request, hash);
  if (request.again === "ask" || (request.isAgreed && !request.isInherited)) return undefined;
  const place = request.isAgreed ? hash + AGREED : hash;
  const found = recorded.next(place, request.again === "agree");
  recorded.note(place);
  if (found?.value === undefined || request.fits?.(found.value) === false) return undefined;
  const { value, run, result } = found;
  if (request.again !== "reuse") return { ok: false, error: obstacle({ why: "done_before", run, value }) };
  // A call that was left in flight gave nothing that could be used again.
  const isInFlight = !result.ok && obstacleOf(result.error)?.why === "in_flight";
  return isInFlight ? undefined : { ok: true, value, reused: run };
}

/** The answer that a replay is given; it makes no call. Where its original asked a person first, it asks as well. */
function replayed(
  recorded: RecordedAnswers,
  { kind, asked, isAgreed }: StepRequest,
  hash: string,
): Settled | undefined {
  const place = isAgreed ? hash + AGREED : hash;
  const found = recorded.next(place);
  recorded.note(place);
  if (found) {
    const { result, run } = found;
    return result.ok ? { ok: true, value: result.value, reused: run } : { ok: false, error: result.error };
  }
  if (isAgreed && recorded.replay === "lenient") return undefined;
  const difference = recorded.difference({ kind, asked: asked() });
  if (recorded.replay === "strict") return { ok: false, error: notRecorded(difference) };
  const { sentence } = difference;
  return { ok: false, error: obstacle({ why: "not_recorded", run: recorded.runId, difference: sentence }) };
}
