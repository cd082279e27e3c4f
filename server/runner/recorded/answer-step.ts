import type { Settled, StepRequest } from "@/server/domain/base/durable";
import { notRecorded, obstacle, type RecordedAnswers } from "./recorded-answers";

/** What a recorded answer makes of a step that asks this; undefined: it is carried out. `hash`: of its request. */
export function recordedAnswer(
  recorded: RecordedAnswers | undefined,
  request: StepRequest,
  hash: string,
): Settled | undefined {
  if (!recorded || request.isAgreed) return undefined;
  if (recorded.replay) return replayed(recorded, request, hash);
  if (request.again === "ask") return undefined;
  const found = recorded.next(hash);
  recorded.note(hash);
  if (!found?.result.ok || request.fits?.(found.result.value) === false) return undefined;
  const { value } = found.result;
  return request.again === "reuse"
    ? { ok: true, value, reused: recorded.runId }
    : { ok: false, error: obstacle({ why: "done_before", run: recorded.runId, value }) };
}

/** The answer that a replay is given; it makes no call by itself. */
function replayed(recorded: RecordedAnswers, { kind, asked }: StepRequest, hash: string): Settled {
  const found = recorded.next(hash);
  recorded.note(hash);
  if (found?.result.ok) return { ok: true, value: found.result.value, reused: recorded.runId };
  const difference = recorded.difference({ kind, asked: asked() });
  if (recorded.replay === "strict") return { ok: false, error: notRecorded(difference) };
  const { sentence } = difference;
  return { ok: false, error: obstacle({ why: "not_recorded", run: recorded.runId, difference: sentence }) };
}
