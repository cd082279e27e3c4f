"use client";

import clsx from "clsx";
import { Brain, MessageSquareText, ShieldAlert } from "lucide-react";
import dynamic from "next/dynamic";
import { useEffect, useRef } from "react";
import { describeTokens, formatDuration } from "@/components/display/format";
import { Badge } from "@/components/ui/badge";
import { Disclosure } from "@/components/ui/disclosure";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import { SimulatedBadge } from "@/components/ui/simulated-badge";
import { Spinner } from "@/components/ui/spinner";
import { ROLE_RULES } from "@/server/domain/agent/role";
import { isObject } from "@/server/domain/base/guards";
import type { JsonObject } from "@/server/domain/base/values";
import { formatCost, ofOneCall } from "@/server/domain/model/cost";
import type { AgentView, ModelCall, ToolCallView } from "@/server/domain/run";
import type { ChatMessage } from "@/server/domain/run/events";
import { jsonIn } from "@/server/domain/text/plain-text";
import { Ticking } from "../live/elapsed";
import { useLiveText, useRun, useRunActivation, useRunList } from "../run-context";
import { TextBlock } from "../values";
import { ErrorNote } from "./error-note";
import { ToolCallCard } from "./tool-call-card";
import { transcript } from "./transcript";

const AsSentDialog = dynamic(() => import("../past/as-sent").then((module) => module.AsSentDialog));

/** The messages of one agent, including the answer being streamed. */
export function AgentTranscript({ agentKey }: { agentKey: string }) {
  const agent = useRun<AgentView | undefined>(({ state }) => state.agents[agentKey], undefined);
  const calls = useRunList<ModelCall>(({ state }) => (agent ? callsOf(state, agent) : []));
  const tools = useRunList<ToolCallView>(({ state }) =>
    agent ? Object.values(state.tool_calls).filter((tool) => isBy(tool, agent)) : [],
  );
  if (!agent) return null;
  return (
    <div className={clsx("flex flex-col gap-2", agent.delegate_level > 0 && "border-l-2 border-line pl-3")}>
      {agent.by_rule ? <Badge className="self-start">{`By rule: ${ROLE_RULES[agent.by_rule]}`}</Badge> : null}
      {agent.tainted ? (
        <Badge tone="waiting" icon={<ShieldAlert aria-hidden />} className="self-start">
          Read untrusted content
        </Badge>
      ) : null}
      {agent.withheld.length > 0 ? <Withheld tools={agent.withheld} /> : null}
      <ol aria-label={`${agent.role_name} conversation`} className="flex flex-col gap-2">
        {transcript(agent, calls, tools).map((turn) => (
          <li key={turn.key} className="min-w-0">
            {turn.kind === "message" ? (
              <Message message={turn.message} title={turn.title} />
            ) : turn.kind === "tool" ? (
              <ToolCallCard call={turn.tool} />
            ) : (
              <CallView call={turn.call} />
            )}
          </li>
        ))}
      </ol>
    </div>
  );
}

/** Tools of its role that the agent doesn't get here, grouped by reason. */
function Withheld({ tools }: { tools: AgentView["withheld"] }) {
  const reasons = [...new Set(tools.map(({ reason }) => reason))];
  return (
    <ul aria-label="Not available here" className="flex flex-col gap-0.5 text-xs text-ink-3">
      {reasons.map((reason) => (
        <li key={reason} className="[overflow-wrap:anywhere]">
          Not available here:{" "}
          {tools
            .filter((tool) => tool.reason === reason)
            .map(({ tool_name }, at) => (
              <span key={tool_name}>
                {at > 0 ? ", " : ""}
                <code className="font-mono text-[11px] text-ink-2">{tool_name}</code>
              </span>
            ))}
          . {reason}
        </li>
      ))}
    </ul>
  );
}

const isBy = (tool: ToolCallView, agent: AgentView) =>
  tool.activation_id === agent.activation_id &&
  tool.agent_id === agent.agent_id &&
  tool.task_id === agent.task_id;

function callsOf(
  state: { activations: Record<string, { calls: readonly string[] }>; calls: Record<string, ModelCall> },
  agent: AgentView,
): ModelCall[] {
  const ids = state.activations[agent.activation_id]?.calls ?? [];
  return ids.flatMap((id) => {
    const call = state.calls[id];
    return call && call.agent_id === agent.agent_id && call.task_id === agent.task_id ? [call] : [];
  });
}

function Message({ message, title }: { message: ChatMessage; title: string }) {
  if (message.role === "assistant") return <TextBlock text={message.content} label="answer" />;
  return (
    <Disclosure icon={<MessageSquareText aria-hidden />} title={title} aside={head(message.content)}>
      <TextBlock text={message.content} label={title} tone="quiet" />
    </Disclosure>
  );
}

/** A model call: its text, streamed while it runs, its duration and cost. */
export function CallView({ call }: { call: ModelCall }) {
  const isRunning = call.status === "running";
  const live = useLiveText(isRunning ? call.id : undefined);
  const reasoning = isRunning ? live?.reasoning : call.reasoning;
  return (
    <div className="flex flex-col gap-1.5">
      {reasoning ? (
        <Disclosure
          icon={<Brain aria-hidden />}
          title="Reasoning"
          aside={isRunning ? tail(reasoning) : undefined}
        >
          <TextBlock text={reasoning} label="reasoning" tone="quiet" />
        </Disclosure>
      ) : null}
      {isRunning ? (
        <StreamedText text={live?.content ?? ""} missing={live?.from ?? 0} />
      ) : (
        <CallResult call={call} />
      )}
      <CallFacts call={call} />
      {call.notes?.map((note) => (
        <p key={note} className="text-xs text-ink-2">
          {note}
        </p>
      ))}
    </div>
  );
}

function CallResult({
  call: { status, error, content, tool_calls = [], activation_id },
}: {
  call: ModelCall;
}) {
  const output = useRunActivation(activation_id)?.output;
  if (status === "failed" && error) return <ErrorNote error={error} isQuiet />;
  if (status === "stopped") return <p className="text-[13px] text-ink-3">Stopped before responding.</p>;
  if (content === "" && tool_calls.length > 0) return null;
  return isOutput(content, output) ? (
    <Disclosure icon={<MessageSquareText aria-hidden />} title="Answer" aside={head(content)}>
      <TextBlock text={content} label="answer" tone="quiet" />
    </Disclosure>
  ) : (
    <TextBlock text={content} label="answer" />
  );
}

/** Whether an answer is the node's output, which is already shown key by key above it. */
function isOutput(content: string, output: JsonObject | undefined): boolean {
  if (!output || content === "") return false;
  const answer = jsonIn(content);
  return isObject(answer)
    ? Object.keys(answer).every((key) => key in output)
    : Object.values(output).includes(content);
}

/** Streamed text; scrolls to its end. */
function StreamedText({ text, missing }: { text: string; missing: number }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (element && text) element.scrollTo({ top: element.scrollHeight });
  }, [text]);
  return (
    <div
      ref={box}
      data-streaming
      className="max-h-72 min-h-16 overflow-y-auto rounded-lg border border-running/40 bg-raised px-3 py-2"
    >
      <div className="whitespace-pre-wrap text-[13px] leading-5 [overflow-wrap:anywhere]">
        {missing > 0 ? <span className="text-ink-3">… </span> : null}
        {text}
        <span aria-hidden className="run-caret" />
      </div>
    </div>
  );
}

function CallFacts({ call }: { call: ModelCall }) {
  const { usage } = call;
  return (
    <p className="flex min-h-5 flex-wrap items-center gap-x-2 gap-y-1 text-xs text-ink-3 tabular-nums">
      {call.status === "running" ? (
        <>
          <Spinner size={12} />
          <span>{call.attempt > 1 ? `Attempt ${call.attempt}` : "Generating…"}</span>
          <Ticking from={call.started_at} />
        </>
      ) : (
        <>
          {call.model ? <span>{call.model}</span> : null}
          {call.latency_ms !== undefined ? <span>{formatDuration(call.latency_ms)}</span> : null}
          {usage ? (
            <span title={`${usage.input_tokens} in, ${usage.output_tokens} out`}>
              {describeTokens(usage)}
            </span>
          ) : null}
          {call.simulated ? (
            <SimulatedBadge />
          ) : call.cost_usd !== undefined ? (
            <span>{formatCost(ofOneCall(call.cost_usd))}</span>
          ) : null}
          <AsSent call={call} />
        </>
      )}
    </p>
  );
}

/** Opens the prompt of a call. */
function AsSent({ call }: { call: ModelCall }) {
  const { open, dialog } = useDialog((close) => <AsSentDialog callId={call.id} onClose={close} />);
  return (
    <>
      <button
        type="button"
        onClick={open}
        className="rounded font-medium text-accent hover:text-accent-hover pointer-coarse:min-h-9"
      >
        Exact prompt
      </button>
      {dialog}
    </>
  );
}

const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();
const head = (text: string) => oneLine(text.slice(0, 120));
const tail = (text: string) => oneLine(text.slice(-80));
