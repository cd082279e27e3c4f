import clsx from "clsx";
import { Check, CircleDashed, CircleSlash, type LucideIcon, MessageSquareQuote, X } from "lucide-react";
import type { ExpectationResult, TestStatus } from "@/server/domain/scenario/report";

interface Mark {
  word: string;
  icon: LucideIcon;
  color: string;
  filled?: boolean;
}

const MARKS: Readonly<Record<TestStatus | ExpectationResult["status"] | "never", Mark>> = {
  passed: { word: "Passed", icon: Check, color: "text-completed", filled: true },
  failed: { word: "Failed", icon: X, color: "text-failed", filled: true },
  not_run: { word: "Can't run", icon: CircleSlash, color: "text-waiting" },
  note: { word: "Note", icon: MessageSquareQuote, color: "text-ink-3" },
  not_checked: { word: "Not checked", icon: CircleDashed, color: "text-ink-3" },
  never: { word: "Not run yet", icon: CircleDashed, color: "text-ink-3" },
};
export type Marked = keyof typeof MARKS;

export const markWord = (status: Marked): string => MARKS[status].word;

/** The result of a test or expectation by icon, color and label. */
export function TestMark({
  status,
  withWord,
  size = 16,
}: {
  status: Marked;
  withWord?: boolean;
  size?: number;
}) {
  const { word, icon: Icon, color, filled } = MARKS[status];
  return (
    <span
      className="inline-flex shrink-0 items-center gap-1.5 whitespace-nowrap"
      title={withWord ? undefined : word}
    >
      <span
        aria-hidden
        className={clsx(
          "inline-flex items-center justify-center rounded-full",
          color,
          filled && "bg-current p-[2px]",
        )}
        style={{ width: size, height: size }}
      >
        <Icon
          size={filled ? size - 5 : size}
          strokeWidth={filled ? 3 : 2}
          className={filled ? "text-surface" : ""}
        />
      </span>
      {withWord ? (
        <span className="text-[13px] font-medium">{word}</span>
      ) : (
        <span className="sr-only">{word}</span>
      )}
    </span>
  );
}
