import { Minus, MoveRight, Pencil, Plus } from "lucide-react";
import { WordPieces } from "@/components/display/word-pieces";
import type { Difference } from "./use-versions";

const icons = { added: Plus, removed: Minus, changed: Pencil, moved: MoveRight };
const LABELS = { added: "Added", removed: "Removed", changed: "Changed", moved: "Moved" };
const SHOWN = 100;

/** How two versions differ, changed texts word by word. */
export function DifferenceList({ label, list }: { label: string; list: readonly Difference[] }) {
  if (list.length === 0) return <p className="text-[13px] text-ink-3">No differences</p>;
  return (
    <>
      <ul aria-label={label} className="flex flex-col gap-2">
        {list.slice(0, SHOWN).map(({ kind, text, details, texts }, at) => {
          const Icon = icons[kind];
          return (
            <li key={at} className="flex items-start gap-2 text-[13px]">
              <Icon aria-label={LABELS[kind]} className="mt-0.5 size-3.5 shrink-0 text-ink-3" />
              <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
                {text}
                {details ? <span className="block text-xs text-ink-3">{details}</span> : null}
                {texts.map((changed) => (
                  <span key={changed.label} className="mt-1 block">
                    <span className="text-xs text-ink-3">{changed.label}</span>
                    <WordPieces pieces={changed.pieces} />
                  </span>
                ))}
              </span>
            </li>
          );
        })}
      </ul>
      {list.length > SHOWN && <p className="mt-1 text-xs text-ink-3">and {list.length - SHOWN} more</p>}
    </>
  );
}
