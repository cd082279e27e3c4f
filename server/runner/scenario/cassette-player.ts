import type { Settled, StepRequest } from "@/server/domain/base/durable";
import { asStored } from "@/server/domain/base/json";
import type { Cassette, CassetteAnswer } from "@/server/domain/scenario/cassette";
import type { MissedAnswer } from "@/server/domain/scenario/report";
import { BrokenOff, type Served } from "../durable/virtual-run";
import { differenceFrom } from "../recorded/difference";

/** A test asked something that nobody has an answer for. */
export class Missed extends BrokenOff {
  override name = "Missed";
  constructor(readonly missed: MissedAnswer) {
    super(missed.sentence);
  }
}

/** The answers of a cassette by their requests: the k-th asking of one gets its k-th answer. */
export class CassettePlayer {
  private readonly byRequest = new Map<string, { answer: CassetteAnswer; order: number }[]>();
  private readonly asked = new Map<string, number>();
  private taken = 0;

  constructor(readonly cassette: Cassette) {
    for (const [order, answer] of cassette.answers.entries()) {
      const same = this.byRequest.get(answer.request);
      if (same) same.push({ answer, order });
      else this.byRequest.set(answer.request, [{ answer, order }]);
    }
  }

  /** The answer that this asking of the request has; undefined where it was asked less often. */
  next(hash: string): Served | undefined {
    const k = this.asked.get(hash) ?? 0;
    const found = this.byRequest.get(hash)?.[k];
    if (!found) return undefined;
    this.asked.set(hash, k + 1);
    this.taken++;
    const { answer, order } = found;
    return { result: resultOf(answer), order, took_ms: answer.took_ms };
  }

  /** Recorded and not asked for. */
  get unused(): CassetteAnswer[] {
    return [...this.byRequest].flatMap(([request, answers]) =>
      answers.slice(this.asked.get(request) ?? 0).map(({ answer }) => answer),
    );
  }
}

function resultOf({ value, error }: CassetteAnswer): Settled | null {
  if (error) return { ok: false, error };
  return value === undefined ? null : { ok: true, value };
}

/** What was asked and not recorded, beside the nearest of what was and is not used yet. */
export function missedOf(
  request: StepRequest,
  key: string,
  recorded: readonly CassetteAnswer[],
  why: string,
): MissedAnswer {
  const { kind } = request;
  const asked = asStored(request.asked());
  const difference = differenceFrom({ kind, asked }, recorded);
  const node_id = /^([^#/]+)#\d+/.exec(key)?.[1];
  return {
    asked,
    difference,
    sentence: `${why} ${difference.sentence}`.trim(),
    ...(node_id === undefined ? {} : { node_id }),
  };
}
