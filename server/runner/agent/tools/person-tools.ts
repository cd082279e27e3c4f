import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import { Json, type JsonObject, type JsonSchema } from "@/server/domain/base/values";
import { isSince } from "@/server/domain/run/edition";
import {
  answerText,
  EscalationLevel,
  type QuestionParts,
  TEXT_ANSWER,
  TimeoutSeconds,
  Urgency,
} from "@/server/domain/tool/person-question";
import type { AgentRuntime, PersonQuestion } from "@/server/runner/node/ports";
import type { Answered } from "@/server/runner/people/ask";
import type { Caller, RunTool, RunToolResult } from "../task";
import { defineRunTool, done } from "./run-tool";

const YES = "approved";
const NO = "rejected";
const OPTIONS = [YES, NO].map((label) => ({ label, value: label }));
/** The agent continues at once, and gets the answer later. */
const PENDING = "pending";

const Action = z.string().min(1).max(8000).describe("Exactly what you want to do, in full");
const Context = z.record(z.string().max(200), Json).optional().describe("Information that helps to decide");
const Timeout = TimeoutSeconds.optional().describe("Seconds to wait; no answer means rejected");
const NoWait = z
  .boolean()
  .default(false)
  .describe("Continue without waiting; the answer reaches you or your coworkers later");

/** The tools by which an agent asks a person. The run executes them: each waits durably. */
export const personTools = (run: AgentRuntime): RunTool[] => [
  defineRunTool({
    name: "request_approval",
    description: "Ask a person for approval before you do something. No answer in time means rejected.",
    input: z.object({ action: Action, context: Context, timeout: Timeout }),
    *call({ action, context, timeout }, caller, key) {
      return approved(
        yield* ask(run, caller, key, approval(caller, action, context, { timeout_s: timeout })),
      );
    },
  }),
  defineRunTool({
    name: "approval_gateway",
    description:
      "Ask a person for approval, and escalate to others if there is no answer. No answer in time means rejected.",
    input: z.object({
      action: Action,
      context: Context,
      timeout: Timeout,
      escalation_policy: z
        .array(EscalationLevel)
        .max(10)
        .optional()
        .describe("Whom to ask after how many seconds without an answer, in order"),
    }),
    *call({ action, context, timeout, escalation_policy }, caller, key) {
      const terms = { timeout_s: timeout, escalation: escalation_policy };
      return approved(yield* ask(run, caller, key, approval(caller, action, context, terms)));
    },
  }),
  defineRunTool({
    name: "request_feedback",
    description: "Show a person something and ask them questions about it. Returns an answer to each.",
    input: z.object({
      artifact: z
        .string()
        .min(1)
        .max(64_000)
        .describe("What to review: the text itself, or the name of a file"),
      questions: z.array(z.string().min(1).max(1000)).min(1).max(10).describe("What you want to know"),
      no_wait: NoWait,
    }),
    *call({ artifact, questions, no_wait }, caller, key) {
      const answered = yield* ask(run, caller, key, {
        kind: "feedback",
        title: `${caller.role.name} asks for feedback`,
        why: questions.length === 1 ? "One question." : `${questions.length} questions.`,
        body: artifact,
        questions,
        response_schema: formOf(questions),
        ...defined({ mode: no_wait ? ("advisory" as const) : undefined }),
      });
      return feedback(answered, questions, no_wait);
    },
  }),
  defineRunTool({
    name: "escalate_to_human",
    description:
      "Escalate to a person what you cannot or should not decide yourself. If it is urgent, everything waits for the answer.",
    input: z.object({
      issue: z.string().min(1).max(8000).describe("What it is about, and what you need"),
      urgency: Urgency.default("normal"),
      required_expertise: z
        .array(z.string().min(1).max(200))
        .max(20)
        .default([])
        .describe("Background that the person should know"),
    }),
    *call({ issue, urgency, required_expertise }, caller, key) {
      const isUrgent = urgency === "high" || urgency === "critical";
      const answered = yield* ask(run, caller, key, {
        kind: "escalation",
        title: `${caller.role.name} needs a decision`,
        why: "It can't or shouldn't decide this alone.",
        body: issue,
        urgency,
        ...defined({
          required_expertise: required_expertise.length > 0 ? required_expertise : undefined,
          response_schema: isSince(run.s.run, 5) ? TEXT_ANSWER : undefined,
        }),
        mode: isUrgent ? "sync" : "async",
      });
      const { answer, by } = answered;
      if (answer === "expired")
        return done({ go_on: false, by: "nobody", answer: "No answer before the deadline." });
      return done({ go_on: answer !== "reject", by, answer: answerText(answered) ?? "" });
    },
  }),
];

type Asked = Omit<PersonQuestion, "about">;

function ask(run: AgentRuntime, caller: Caller, key: string, question: Asked): Flow<Answered> {
  const { taint_sources } = run.s;
  return run.ask(`${key}/person`, {
    about: caller.about,
    ...question,
    ...defined({ taint_sources: taint_sources.length > 0 ? [...taint_sources] : undefined }),
  });
}

function approval(
  { role }: Caller,
  action: string,
  context: JsonObject | undefined,
  {
    timeout_s,
    escalation,
  }: { timeout_s?: number | undefined; escalation?: QuestionParts["escalation"] | undefined },
): Asked {
  return {
    kind: "approval",
    title: `${role.name} asks for your approval`,
    why: "It continues as you decide.",
    body: action,
    options: OPTIONS,
    on_timeout: "reject",
    ...defined({
      args: context && Object.keys(context).length > 0 ? context : undefined,
      timeout_s,
      escalation,
    }),
  };
}

const approved = ({ answer, option, message, by }: Answered): RunToolResult =>
  done(
    answer === "expired"
      ? { approved: false, by: "nobody", comment: "No one answered in time, which means rejected." }
      : { approved: option === YES, by, comment: message ?? "" },
  );

/** A form with a field for each question. */
const formOf = (questions: readonly string[]): JsonSchema => ({
  type: "object",
  properties: Object.fromEntries(
    questions.map((title, at) => [`answer_${at + 1}`, { type: "string", title, maxLength: 8000 }]),
  ),
  required: questions.map((_question, at) => `answer_${at + 1}`),
});

function feedback({ answer, value, message, by }: Answered, questions: readonly string[], noWait: boolean) {
  if (noWait) return done({ status: PENDING });
  if (answer === "expired") return done({ status: "unanswered", comment: "No answer before the deadline." });
  if (answer !== "given") return done({ status: "declined", by, comment: message ?? "" });
  const given = z.record(z.string(), Json).catch({}).parse(value);
  return done({
    status: "answered",
    by,
    answers: questions.map((question, at) => ({ question, answer: given[`answer_${at + 1}`] ?? "" })),
  });
}
