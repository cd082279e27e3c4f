import type { QuestionTerms } from "./person-question";

/** Why others cannot be asked as these terms say; null where they can. */
export function escalationError({
  on_timeout,
  escalation = [],
}: Pick<QuestionTerms, "on_timeout" | "escalation">): string | null {
  if (on_timeout === "escalate" && escalation.length === 0) return "Add at least one escalation level.";
  const isOrdered = escalation.every(
    ({ after_s }, at) => at === 0 || after_s > (escalation[at - 1]?.after_s ?? 0),
  );
  return isOrdered ? null : "Each escalation level must come later than the one before.";
}
