import { defined } from "@/server/domain/base/defined";
import { agentKey } from "..";
import {
  applyCondensation,
  type Condensation,
  cutBefore,
  estimateTranscript,
  MAX_SUMMARY_TOKENS,
  summaryPrompt,
} from "../condense/condense";
import type { ChatMessage, RunEvent, RunEventOf } from "../events";

/** What a model was sent with one call. */
export interface AsSent {
  /** The event that began the call. */
  seq: number;
  agent_id: string;
  role_name?: string;
  messages: readonly ChatMessage[];
  /** What the agent held, by name. */
  tools: readonly string[];
  /** How its answer was asked for, where the call was answered. */
  response_format?: string;
  model?: string;
  /** Messages that stood there before and had been shortened or summed up by then; 0 where nothing was. */
  condensed: number;
  /** Why this is not for sure the prompt byte for byte; absent: it is. */
  doubt?: string;
}

interface Conversation {
  messages: ChatMessage[];
  tools: readonly string[];
  role_name?: string;
  condensed: number;
  doubt?: string;
}

/**
 * The prompt of a model call, made of the events: what the agent was told, what it answered, what its tools gave, as
 * far as it had not been shortened by then. Null where the log has no such call. What no event keeps (the words to a
 * judge who checks a rule) is said in `doubt`, never made up.
 */
export function asSent(events: readonly RunEvent[], callId: string): AsSent | null {
  const begun = events.findIndex((event) => event.type === "llm_call_started" && event.call_id === callId);
  const started = events[begun];
  if (started?.type !== "llm_call_started") return null;
  const key = keyOf(started);
  const own = events.filter((event) => keyOf(event) === key);
  const talk = conversationAt(own, started.seq);
  const { purpose, message_count, model } = started.payload;
  const shown: Conversation =
    purpose === "summary"
      ? { ...talk, ...summaryAsked(own, started.seq, talk.messages, editionOf(events)) }
      : isJudged(callId)
        ? {
            ...talk,
            messages: [],
            doubt: "A guardrail was checked here: its judge's prompt is not in the log.",
          }
        : talk;
  const doubt =
    shown.doubt ??
    (shown.messages.length === message_count
      ? undefined
      : `The call had ${message_count} messages, but the log has ${shown.messages.length}.`);
  const answer = own.find((event) => event.type === "llm_call_completed" && event.call_id === callId);
  return {
    seq: started.seq,
    agent_id: started.agent_id ?? "",
    ...defined({ role_name: shown.role_name }),
    messages: shown.messages,
    tools: purpose === "summary" ? [] : shown.tools,
    ...defined({
      response_format: answer?.type === "llm_call_completed" ? answer.payload.response_format : undefined,
      model,
    }),
    condensed: shown.condensed,
    ...defined({ doubt }),
  };
}

const keyOf = (event: RunEvent): string | null =>
  event.activation_id && event.agent_id ? agentKey(event.activation_id, event.agent_id, event.task_id) : null;

/** A guardrail's judge is called in the agent's name, with a prompt of its own. */
const isJudged = (callId: string): boolean => /\/guard\d+(\/|$)/.test(callId);

function conversationAt(own: readonly RunEvent[], seq: number): Conversation {
  let talk: Conversation = { messages: [], tools: [], condensed: 0 };
  const summaries = new Set<string>();
  for (const event of own) {
    if (event.seq >= seq) break;
    if (event.type === "agent_started")
      // A retry starts a new conversation.
      talk = {
        messages: [],
        tools: event.payload.tools ?? [],
        role_name: event.payload.role_name,
        condensed: 0,
      };
    if (event.type === "message_added") talk.messages.push(event.payload.message);
    if (event.type === "llm_call_started" && event.payload.purpose === "summary" && event.call_id)
      summaries.add(event.call_id);
    if (event.type === "llm_call_completed" && isOwnAnswer(event, summaries))
      talk.messages.push(answerOf(event));
    if (event.type === "context_condensed") talk = condensed(talk, event);
  }
  return talk;
}

/**
 * Whether an answer is part of the conversation that it was requested in: summaries, verdicts, refusals and truncated
 * answers are not.
 */
function isOwnAnswer(event: RunEventOf<"llm_call_completed">, summaries: ReadonlySet<string>): boolean {
  const { refusal, finish_reason, tool_calls } = event.payload;
  const id = event.call_id ?? "";
  if (summaries.has(id) || isJudged(id)) return false;
  return !refusal && !(finish_reason === "length" && (tool_calls ?? []).length === 0);
}

function answerOf({ payload }: RunEventOf<"llm_call_completed">): ChatMessage {
  const { content, tool_calls, reasoning } = payload;
  return {
    role: "assistant",
    content,
    ...defined({
      tool_calls: tool_calls && tool_calls.length > 0 ? tool_calls : undefined,
      reasoning: reasoning || undefined,
    }),
  };
}

/** What a conversation was shortened to; a doubt where the count of its tokens says that it was something else. */
function condensed(talk: Conversation, { payload }: RunEventOf<"context_condensed">): Conversation {
  const { messages } = talk;
  const { from, to, tokens_before, tokens_after } = payload;
  const estimate = estimateTranscript(messages);
  const ratio = estimate > 0 ? tokens_before / estimate : 1;
  const plan = planOf(messages, payload, ratio);
  const shorter = applyCondensation(messages, plan, payload.summary, ratio);
  const gone = plan.kind === "summarise" ? to - from : plan.cut.length;
  const isSame = Math.abs(estimateTranscript(shorter, ratio) - tokens_after) <= shorter.length;
  const doubt =
    talk.doubt ??
    (isSame
      ? undefined
      : "The conversation had already been compacted; the log shows only part of the result.");
  return {
    ...talk,
    messages: shorter,
    condensed: talk.condensed + gone,
    ...defined({ doubt }),
  };
}

function planOf(
  messages: readonly ChatMessage[],
  { kind, from, to, summary }: RunEventOf<"context_condensed">["payload"],
  ratio: number,
): Exclude<Condensation, { kind: "impossible" }> {
  const all = cutBefore(messages, kind === "reset" ? 0 : undefined, ratio);
  if (summary === undefined) return { kind: "prune", cut: all.filter((at) => at >= from && at < to) };
  // How long the summary might be is not told: what was written is taken whole.
  return { kind: "summarise", cut: all, from, to, summary_tokens: Number.MAX_SAFE_INTEGER };
}

const editionOf = ([created]: readonly RunEvent[]): { edition?: number } =>
  created?.type === "run_created" ? created.payload : {};

/** What was sent to sum up a conversation: the event behind the call says which part. */
function summaryAsked(
  own: readonly RunEvent[],
  seq: number,
  messages: readonly ChatMessage[],
  run: { edition?: number },
): Pick<Conversation, "messages" | "doubt"> {
  const done = own.find((event) => event.seq > seq && event.type === "context_condensed");
  if (done?.type !== "context_condensed")
    return {
      messages: [],
      doubt: "This call summarized the conversation; the log doesn't say which part.",
    };
  const { from, to } = done.payload;
  const cut = cutBefore(messages);
  return {
    messages: summaryPrompt(
      messages,
      { kind: "summarise", cut, from, to, summary_tokens: MAX_SUMMARY_TOKENS },
      run,
    ),
    doubt: "The maximum length of the summary is not in the log; the rest is exact.",
  };
}
