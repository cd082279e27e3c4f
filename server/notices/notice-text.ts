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
  tool_confirmation: "A tool is to be allowed",
  escalation: "Something is stuck and needs a decision",
  review: "A result is to be reviewed",
  tie: "A vote came out even",
  question: "A tool's server asks something",
  approval: "Something is to be approved",
  input: "A form is to be filled in",
  feedback: "Feedback is asked for",
  budget: "A limit is near",
};
const CAUSES: Readonly<Record<NoticeDue["cause"], string>> = {
  asked: "A question waits",
  reminded: "A question still waits",
  escalated: "Nobody has answered a question",
};

/** What to say of a question. `origin`: where people open Troupe. */
export function noticeOf(
  due: Omit<NoticeDue, "id" | "attempts" | "channel">,
  origin: string,
  now: number,
): Notice {
  const { cause, kind, workflow_name, urgency, assigned_to, expires_at, run_id, interaction_id } = due;
  const name = oneLine(workflow_name) || "A workflow";
  const pressing = URGENCIES[urgency] === "critical" || URGENCIES[urgency] === "high" ? "Urgent: " : "";
  const left = expires_at === null ? "" : leftOf(expires_at - now);
  const query = new URLSearchParams({ run: run_id, question: interaction_id });
  const link = `${origin}/inbox?${query.toString()}`;
  const what = KINDS[kind] ?? "An answer is needed";
  const whose = assigned_to ? ` It is for ${oneLine(assigned_to)}.` : "";
  return {
    subject: `${pressing}${CAUSES[cause]} in “${name}”`,
    text: `${what} in “${name}”.${whose}${left} Look and answer: ${link}`,
    link,
  };
}

/** What a test says. */
export const testNotice = (origin: string): Notice => ({
  subject: "A test of Troupe's notices",
  text: `This is a test: notices of Troupe arrive here. Nothing waits because of it. ${origin}/inbox`,
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
  return ` It can be answered for ${count} ${unit}${count === 1 ? "" : "s"} more.`;
}
