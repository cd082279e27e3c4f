import { withoutRunFacts } from "@/server/domain/agent/prompt";
import { defined } from "@/server/domain/base/defined";
import { canonicalJson, isSameJson } from "@/server/domain/base/json";
import type { Json } from "@/server/domain/base/values";
import type { RunEvent, RunEventOf } from "../events";
import { asSent } from "../past/as-sent";

/** The first call that was asked the very same in two runs and answered otherwise. */
export interface Divergence {
  what: "model" | "tool";
  call_id: string;
  /** The events with the answers. */
  a: number;
  b: number;
  node_id?: string;
  agent_id?: string;
  /** Of a tool. */
  tool_name?: string;
  answers: { a: Json; b: Json };
}

/**
 * Where two runs parted by an answer from outside: a model that was sent the same prompt, or a tool that was called with
 * the same arguments, and gave something else. Null where there is no such call: then they parted by what they were
 * given. A prompt that the log holds only in part is no proof, and is passed over. Which of several such answers makes a
 * difference to the end, only running them again could tell; this is the earliest.
 */
export function firstDivergence(a: readonly RunEvent[], b: readonly RunEvent[]): Divergence | null {
  const others = new Map(b.flatMap((event) => (isAnswer(event) ? [[keyOf(event), event] as const] : [])));
  for (const one of a) {
    if (!isAnswer(one)) continue;
    const other = others.get(keyOf(one));
    if (!other) continue;
    const answers = { a: answerOf(one), b: answerOf(other) };
    if (isSameJson(answers.a, answers.b) || !isAskedTheSame(a, one, b, other)) continue;
    const { node_id, agent_id } = one;
    return {
      what: one.type === "llm_call_completed" ? "model" : "tool",
      call_id: one.call_id ?? "",
      a: one.seq,
      b: other.seq,
      ...defined({
        node_id: node_id || undefined,
        agent_id: agent_id || undefined,
        tool_name: one.type === "tool_call_completed" ? one.payload.tool_name : undefined,
      }),
      answers,
    };
  }
  return null;
}

type Answer = RunEventOf<"llm_call_completed"> | RunEventOf<"tool_call_completed">;
const isAnswer = (event: RunEvent): event is Answer =>
  event.type === "llm_call_completed" || event.type === "tool_call_completed";
const keyOf = ({ type, call_id }: Answer): string => `${type} ${call_id ?? ""}`;

function answerOf(event: Answer): Json {
  if (event.type === "llm_call_completed") {
    const { content, tool_calls = [] } = event.payload;
    if (tool_calls.length === 0) return content;
    return { content, calls: tool_calls.map(({ tool_name, args }) => ({ tool_name, args })) };
  }
  const { status_code, output = null, error } = event.payload;
  return error === undefined ? output : { status_code, error };
}

function isAskedTheSame(a: readonly RunEvent[], one: Answer, b: readonly RunEvent[], other: Answer): boolean {
  const [first, second] = [askedIn(a, one), askedIn(b, other)];
  return first !== null && first === second;
}

/** What was asked, as text to compare; null where the log does not hold all of it. */
function askedIn(events: readonly RunEvent[], answer: Answer): string | null {
  if (answer.type === "tool_call_completed") {
    const call = events.find(
      (event) => event.type === "tool_call_started" && event.call_id === answer.call_id,
    );
    return call?.type === "tool_call_started"
      ? canonicalJson([call.payload.tool_name, call.payload.args])
      : null;
  }
  const sent = asSent(events, answer.call_id ?? "");
  if (!sent || sent.doubt !== undefined) return null;
  const requestText = sent.messages.map(({ role, content, tool_calls = [] }) => [
    role,
    content,
    tool_calls.map(({ tool_name, args }) => [tool_name, args]),
  ]);
  return withoutRunFacts(canonicalJson([answer.payload.model, requestText, sent.tools]));
}
