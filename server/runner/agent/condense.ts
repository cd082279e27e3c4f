import { defined } from "@/server/domain/base/defined";
import type { Flow } from "@/server/domain/base/durable";
import {
  applyCondensation,
  type CondenseLimits,
  estimateTokens,
  estimateTranscript,
  planCondensation,
  summaryPrompt,
} from "@/server/domain/run/condense/condense";
import { isSince } from "@/server/domain/run/edition";
import type { Agent } from "./agent";
import { callModel } from "./call-model";

/** The share of a model's window that is left for the conversation, however long the tools' descriptions are. */
const LEAST_SHARE = 0.25;
const DEFAULTS = { condense_at: 0.75, target: 0.5, keep_first: 4, max_messages: 80 };

/** Shortens a conversation that has grown too long; false if nothing more can be left out. */
export function* condense(agent: Agent, turn: string, reset: number): Flow<boolean> {
  const { run, messages } = agent;
  const { token_ratio } = agent.reads;
  const plan = planCondensation(messages, limitsOf(agent), reset);
  if (plan === null) return true;
  if (plan.kind === "impossible") return false;
  const before = estimateTranscript(messages, token_ratio);
  let summary = "";
  if (plan.kind === "summarise") {
    const answer = yield* callModel(agent, {
      name: `${turn}/summary${reset}`,
      purpose: "summary",
      messages: summaryPrompt(messages, plan, run.s.run),
    });
    summary = isSince(run.s.run, 3) ? agent.fences.harmless(answer.content) : answer.content;
  }
  const shorter = applyCondensation(messages, plan, summary, token_ratio);
  messages.splice(0, messages.length, ...shorter);
  agent.steps.push({ kind: "condensation" });
  run.emit({
    type: "context_condensed",
    ...agent.about,
    payload: {
      kind: reset > 0 ? "reset" : plan.kind === "prune" ? "pruned" : "summarised",
      from: plan.kind === "summarise" ? plan.from : (plan.cut[0] ?? 0),
      to: plan.kind === "summarise" ? plan.to : (plan.cut.at(-1) ?? 0) + 1,
      tokens_before: before,
      tokens_after: estimateTranscript(messages, token_ratio),
      ...defined({ summary: summary || undefined }),
    },
  });
  return true;
}

function limitsOf({ reads: { context_window, token_ratio }, offers, task }: Agent): CondenseLimits {
  const tools = estimateTokens(JSON.stringify(offers), token_ratio);
  return {
    ...DEFAULTS,
    ...task.config?.context,
    context_window: Math.max(Math.floor(context_window * LEAST_SHARE), context_window - tools),
    ratio: token_ratio,
  };
}
