import type { RunError } from "@/server/domain/agent/outcome";
import {
  type RequestDifference as Difference,
  missOf,
  placeOf,
} from "@/server/domain/run/request-difference";

/** What a strict replay asked beside the nearest recorded request, place by place; nothing for other errors. */
export function RequestDifference({ error }: { error: Pick<RunError, "code" | "detail"> }) {
  const miss = missOf(error);
  return miss ? <DifferenceView of={miss} /> : null;
}

/** What a call asked beside the nearest recorded request, place by place. */
export function DifferenceView({ of: { changes, more } }: { of: Pick<Difference, "changes" | "more"> }) {
  if (changes.length === 0) return null;
  return (
    <section aria-label="Request differences" className="mt-2 min-w-0">
      <dl className="flex flex-col gap-2 rounded-lg border border-line bg-surface px-3 py-2 text-xs leading-5">
        {changes.map((change) => (
          <div key={change.path} className="min-w-0">
            <dt className="font-mono text-[11px] text-ink-3 [overflow-wrap:anywhere]">{placeOf(change)}</dt>
            <dd className="flex gap-2">
              <Word>Recorded</Word>
              <Value text={change.recorded} />
            </dd>
            <dd className="flex gap-2">
              <Word>Current</Word>
              <Value text={change.asked} />
            </dd>
          </div>
        ))}
      </dl>
      {more > 0 ? <p className="mt-1 text-xs text-ink-3">and {more} more</p> : null}
    </section>
  );
}

const Word = ({ children }: { children: string }) => (
  <span className="w-16 shrink-0 text-ink-2">{children}</span>
);

const Value = ({ text }: { text: string | null }) =>
  text === null ? (
    <span className="text-ink-3">nothing</span>
  ) : (
    <span className="min-w-0 whitespace-pre-wrap text-ink [overflow-wrap:anywhere]">{text}</span>
  );
