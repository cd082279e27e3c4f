import { Check, CircleX, Info, PencilLine, Scissors, SquareDashed } from "lucide-react";
import { Disclosure } from "@/components/ui/disclosure";
import { JsonView } from "@/components/ui/json-view";
import { FINDING_LEVELS, type Finding } from "@/server/domain/base/lenient-reader";

export type FindingView = Finding;

const appearances = {
  error: { icon: CircleX, word: "Error", color: "text-failed" },
  dropped: { icon: Scissors, word: "Not imported", color: "text-waiting" },
  placeholder: { icon: SquareDashed, word: "Needs input", color: "text-waiting" },
  changed: { icon: PencilLine, word: "Changed", color: "text-ink-2" },
  kept: { icon: Check, word: "Kept", color: "text-completed" },
  info: { icon: Info, word: "Note", color: "text-ink-3" },
} as const;

/** Longer lists are grouped. */
const MOST_FLAT = 8;
/** Groups that start open, because people must see them before they continue. */
const URGENT: readonly Finding["level"][] = ["error", "dropped", "placeholder"];

/** The findings from reading files, the most severe first. */
export function FindingList({
  findings,
  label = "Findings",
}: {
  findings: readonly FindingView[];
  label?: string;
}) {
  const groups = FINDING_LEVELS.flatMap((level) => {
    const list = findings.filter((finding) => finding.level === level);
    return list.length > 0 ? [{ level, list }] : [];
  });
  const isGrouped = findings.length > MOST_FLAT && groups.length > 1;
  return (
    <ul aria-label={label} className="divide-y divide-line overflow-hidden rounded-lg border border-line">
      {isGrouped
        ? groups.map(({ level, list }) => (
            <li key={level} className="bg-raised px-1.5 py-1">
              <Disclosure
                title={`${appearances[level].word} (${list.length})`}
                isOpen={URGENT.includes(level)}
              >
                <ul className="divide-y divide-line">
                  {list.map((finding, place) => (
                    <Item key={place} finding={finding} isGrouped />
                  ))}
                </ul>
              </Disclosure>
            </li>
          ))
        : groups.flatMap(({ level, list }) =>
            list.map((finding, place) => <Item key={`${level} ${place}`} finding={finding} />),
          )}
    </ul>
  );
}

function Item({
  finding: { level, at, message, file, line, snippet },
  isGrouped = false,
}: {
  finding: FindingView;
  /** The heading already names the level. */
  isGrouped?: boolean;
}) {
  const { icon: Icon, word, color } = appearances[level];
  const place = [
    file && line !== undefined ? `${file}:${line}` : (file ?? (line !== undefined ? `line ${line}` : "")),
    at,
  ]
    .filter(Boolean)
    .join(" · ");
  return (
    <li className="flex items-start gap-2.5 bg-raised px-3 py-2">
      <Icon aria-hidden="true" className={`mt-0.5 size-4 shrink-0 ${color}`} />
      <div className="min-w-0 flex-1 text-[13px] [overflow-wrap:anywhere]">
        <span className="sr-only">{word}: </span>
        {message}
        {place ? <span className="block truncate font-mono text-xs text-ink-3">{place}</span> : null}
        {snippet === undefined ? null : <JsonView value={snippet} label="entry" className="mt-1.5" />}
      </div>
      {isGrouped ? null : (
        <span aria-hidden="true" className="text-xs whitespace-nowrap text-ink-3">
          {word}
        </span>
      )}
    </li>
  );
}
