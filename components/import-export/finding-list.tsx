import { CircleX, Info, PencilLine, Scissors } from "lucide-react";

export interface FindingView {
  level: "info" | "changed" | "dropped" | "error";
  at: string;
  message: string;
}

const looks = {
  error: { icon: CircleX, word: "Error", color: "text-failed" },
  dropped: { icon: Scissors, word: "Left out", color: "text-waiting" },
  changed: { icon: PencilLine, word: "Changed", color: "text-ink-2" },
  info: { icon: Info, word: "Note", color: "text-ink-3" },
} as const;

const order = ["error", "dropped", "changed", "info"] as const;

/** What reading a file found, the worst first. */
export function FindingList({
  findings,
  label = "Findings",
}: {
  findings: readonly FindingView[];
  label?: string;
}) {
  const sorted = order.flatMap((level) => findings.filter((finding) => finding.level === level));
  return (
    <ul aria-label={label} className="divide-y divide-line overflow-hidden rounded-lg border border-line">
      {sorted.map(({ level, at, message }, place) => {
        const { icon: Icon, word, color } = looks[level];
        return (
          <li key={place} className="flex items-start gap-2.5 bg-raised px-3 py-2">
            <Icon aria-hidden="true" className={`mt-0.5 size-4 shrink-0 ${color}`} />
            <div className="min-w-0 flex-1 text-[13px]">
              <span className="sr-only">{word}: </span>
              {message}
              {at ? <span className="block truncate font-mono text-xs text-ink-3">{at}</span> : null}
            </div>
            <span aria-hidden="true" className="text-xs text-ink-3">
              {word}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
