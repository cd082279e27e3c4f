import { URGENCIES } from "@/server/domain/run/questions/open-questions";
import type { NoticeDue } from "@/server/store/notices";

/** A notification: a sentence and a link. Nothing of what is asked, and nothing that could be used to answer it. */
export interface Notice {
  /** One line. */
  subject: string;
  text: string;
  link: string;
}

const KINDS: Readonly<Record<string, string>> = {
  tool_confirmation: "Tool approval needed",
  escalation: "Decision needed",
  review: "Review needed",
  tie: "Tie-break needed",
  question: "Question from an MCP server",
  approval: "Approval needed",
  input: "Form requested",
  feedback: "Feedback requested",
  budget: "Limit warning",
};
const CAUSES: Readonly<Record<NoticeDue["cause"], string>> = {
  asked: "New question",
  reminded: "Reminder",
  escalated: "Escalated",
};

/** What to say of a question. `origin`: where people open Troupe. */
export function noticeOf(
  due: Omit<NoticeDue, "id" | "attempts" | "channel">,
  origin: string,
  now: number,
): Notice {
  const { cause, kind, workflow_name, urgency, assigned_to, expires_at, run_id, interaction_id } = due;
  const name = oneLine(workflow_name) || "Workflow";
  const pressing = URGENCIES[urgency] === "critical" || URGENCIES[urgency] === "high" ? "Urgent: " : "";
  const left = expires_at === null ? "" : leftOf(expires_at - now);
  const query = new URLSearchParams({ run: run_id, question: interaction_id });
  const link = `${origin}/inbox?${query.toString()}`;
  const what = KINDS[kind] ?? "Answer needed";
  const whose = assigned_to ? ` Assigned to ${oneLine(assigned_to)}.` : "";
  return {
    subject: `${pressing}${CAUSES[cause]} in “${name}”`,
    text: `${what} in “${name}”.${whose}${left} Review: ${link}`,
    link,
  };
}

/** What a test says. */
export const testNotice = (origin: string): Notice => ({
  subject: "Troupe test notification",
  text: `This is a test notification from Troupe. No action needed. ${origin}/inbox`,
  link: `${origin}/inbox`,
});

const oneLine = (text: string) => text.replace(/\s+/g, " ").trim().slice(0, 120);

function leftOf(ms: number): string {
  if (ms <= 0 || ms > 365 * 86_400_000) return "";
  const minutes = Math.max(1, Math.round(ms / 60_000));
  const [count, unit] =
    minutes < 90
      ? [minutes, "minute"]
      : minutes < 48 * 60
        ? [Math.round(minutes / 60), "hour"]
        : [Math.round(minutes / 1_440), "day"];
  return ` ${count} ${unit}${count === 1 ? "" : "s"} left to answer.`;
}
