import { Task } from "@/server/domain/crew/plan";

export const PRIORITIES: readonly { value: Task["priority"]; label: string }[] = [
  { value: "critical", label: "Most urgent" },
  { value: "high", label: "Urgent" },
  { value: "medium", label: "Usual" },
  { value: "low", label: "Can wait" },
];

export const URGENCY_HINT = "Of tasks that may begin, the more urgent begin first";
export const DURATION_HINT =
  "Such as 15m or 2h. It is shown with the plan, and changes nothing about when tasks begin";
export const TAGS_HINT =
  "Words with commas between them. Sync points of groups, and points where a person is asked, go by them";

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
