import { Task } from "@/server/domain/crew/plan";

export const PRIORITIES: readonly { value: Task["priority"]; label: string }[] = [
  { value: "critical", label: "Critical" },
  { value: "high", label: "High" },
  { value: "medium", label: "Normal" },
  { value: "low", label: "Low" },
];

export const URGENCY_HINT = "Higher-priority tasks start first";
export const DURATION_HINT = "For example 15m or 2h. Shown with the plan; doesn't affect scheduling";
export const TAGS_HINT = "Comma-separated. Used by sync points and intervention points";

/** Parses comma-separated tags. */
export const tagsIn = (text: string): string[] => [
  ...new Set(
    text
      .split(",")
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ""),
  ),
];

/** Why a duration is invalid; null if it is valid or empty. */
export function durationError(text: string): string | null {
  return Task.shape.estimated_duration.safeParse(text.trim()).error?.issues[0]?.message ?? null;
}
