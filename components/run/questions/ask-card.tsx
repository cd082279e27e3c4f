"use client";

import { CircleHelp, ShieldAlert } from "lucide-react";
import { Fragment, useState } from "react";
import { Markdown } from "@/components/display/markdown";
import { person } from "@/components/run/timeline/sentence-parts";
import { ValueView } from "@/components/run/values";
import { Badge } from "@/components/ui/badge";
import { Checkbox } from "@/components/ui/input/checkbox";
import type { Json } from "@/server/domain/base/values";
import type { Interaction } from "@/server/domain/run";
import { answerLabel, askedOf } from "@/server/domain/run/questions/question-text";
import { RISK_LEVELS, type RiskLevel } from "@/server/domain/tool/tool";
import { AnswerForm } from "./answer-form";
import type { AskProps } from "./ask-props";
import { ChoiceForm } from "./choice-form";
import { destinationOf } from "./destination";
import { QuestionForm } from "./question-form";
import { ResponseForm } from "./response-form";

/**
 * A question to a person: what exactly will be done, why it is asked, and the answers. The answer carries the question's
 * fingerprint, so it can't approve anything else. Enter alone approves nothing. Takes props only: a run's page and the
 * inbox show the same card.
 */
export function AskCard(props: AskProps) {
  const { ask } = props;
  const { requested } = ask;
  const { calls } = requested;
  const about = askedOf(requested);
  const [ticked, setTicked] = useState<readonly number[]>([]);
  return (
    <section
      aria-label={`Question: ${requested.title}`}
      className="flex min-w-0 flex-col gap-3 rounded-xl border border-waiting/45 bg-waiting/6 p-3.5"
    >
      <header className="flex items-start gap-2.5">
        <CircleHelp aria-hidden className="mt-0.5 size-4 shrink-0 text-waiting" />
        <div className="min-w-0 flex-1">
          {props.isTitled ? null : (
            <h3 className="text-sm font-semibold [overflow-wrap:anywhere]">{requested.title}</h3>
          )}
          <p className="mt-0.5 text-[13px] text-ink-2 [overflow-wrap:anywhere]">
            {ask.agent_id ? `${person(ask.agent_id)} asks. ` : ""}
            {requested.why}
          </p>
        </div>
      </header>
      {about.length > 0 && !props.isTitled ? (
        <ul aria-label="Assignee and priority" className="flex flex-wrap gap-1.5">
          {about.map((phrase) => (
            <li key={phrase}>
              <Badge tone="neutral">{phrase}</Badge>
            </li>
          ))}
        </ul>
      ) : null}
      {requested.body ? <Markdown text={requested.body} keepsLines /> : null}
      {requested.taint_sources && requested.taint_sources.length > 0 ? (
        <p className="flex items-start gap-2 text-[13px]">
          <ShieldAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-waiting" />
          <span>
            {ask.agent_id ? "The agent" : "The run"} has read untrusted content from{" "}
            {requested.taint_sources.map((source, at) => (
              <span key={source}>
                {at > 0 ? ", " : ""}
                <code className="font-mono text-xs">{source}</code>
              </span>
            ))}
            . This content may try to manipulate it.
          </span>
        </p>
      ) : null}
      {calls ? (
        <Calls calls={calls} ticked={ticked} onTicked={setTicked} isOpen={ask.status === "open"} />
      ) : (
        <OneCall call={requested} />
      )}
      <Answer {...props} ticked={calls ? ticked : null} />
    </section>
  );
}

type Requested = Interaction["requested"];
type CallOfMany = NonNullable<Requested["calls"]>[number];

/** Several calls, each with a checkbox. */
function Calls({
  calls,
  ticked,
  onTicked,
  isOpen,
}: {
  calls: readonly CallOfMany[];
  ticked: readonly number[];
  onTicked: (ticked: number[]) => void;
  isOpen: boolean;
}) {
  const all = calls.map((_call, at) => at);
  const isAll = ticked.length === calls.length;
  return (
    <div className="flex min-w-0 flex-col gap-3">
      {isOpen ? (
        <Checkbox
          label={`All ${calls.length} calls`}
          checked={isAll}
          indeterminate={!isAll && ticked.length > 0}
          onCheckedChange={() => onTicked(isAll ? [] : all)}
        />
      ) : null}
      <ol aria-label="Calls" className="flex flex-col gap-3">
        {calls.map((call, at) => (
          <li
            // Calls may be equal, and their order never changes.
            key={at}
            className="flex min-w-0 flex-col gap-2 rounded-lg border border-line p-3"
          >
            {isOpen ? (
              <Checkbox
                label={`${at + 1}. ${call.tool_name}`}
                hint={call.why}
                checked={ticked.includes(at)}
                onCheckedChange={(checked) =>
                  onTicked(all.filter((each) => (each === at ? checked : ticked.includes(each))))
                }
              />
            ) : (
              <p className="text-[13px]">{call.why}</p>
            )}
            <OneCall call={call} />
          </li>
        ))}
      </ol>
    </div>
  );
}

/** The tool, its arguments and destinations. */
function OneCall({ call }: { call: Pick<Requested, "tool_name" | "args" | "risk" | "destinations"> }) {
  const { tool_name, args, risk, destinations = [] } = call;
  const shown = destinations.filter(({ kind }) => kind !== "call" && kind !== "words");
  const destination = shown.length === 0 && args ? destinationOf(args) : null;
  return (
    <>
      {tool_name ? (
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] items-baseline gap-x-3 gap-y-1.5 text-[13px]">
          <dt className="text-xs text-ink-3">Tool</dt>
          <dd className="flex flex-wrap items-center gap-2">
            <code className="font-mono text-xs">{tool_name}</code>
            {risk ? <Risk risk={risk} /> : null}
          </dd>
          {destination ? (
            <>
              <dt className="text-xs text-ink-3">Destination</dt>
              <dd className="font-mono text-xs [overflow-wrap:anywhere]">{destination}</dd>
            </>
          ) : null}
          {shown.map(({ argument, value, from }) => (
            <Fragment key={`${argument} ${value}`}>
              <dt className="text-xs text-ink-3">Destination</dt>
              <dd className="[overflow-wrap:anywhere]">
                <code className="font-mono text-xs">{value}</code>
                <span className="block text-xs text-ink-2">{cameFrom(from)}</span>
              </dd>
            </Fragment>
          ))}
        </dl>
      ) : null}
      {args && Object.keys(args).length > 0 ? (
        <div className="min-w-0">
          <p className="mb-1 text-xs text-ink-3">{tool_name ? "Full request" : "Details"}</p>
          <ValueView value={args} label="arguments" />
        </div>
      ) : null}
    </>
  );
}

/** Where a value came from that the person didn't write. */
const cameFrom = (source: string | null) =>
  source === null
    ? "Generated by the model. Not found in your input or anything it read."
    : `Not from you. First seen in content from ${source}.`;

function Risk({ risk }: { risk: RiskLevel }) {
  return (
    <Badge tone={risk === "HIGH" || risk === "UNKNOWN" ? "waiting" : "neutral"}>
      {RISK_LEVELS[risk].title}
    </Badge>
  );
}

/** `ticked`: the approved calls, if there are several; null for a single question. */
function Answer({ ticked, ...props }: AskProps & { ticked: readonly number[] | null }) {
  const {
    ask,
    standing: { status, answered, isOver, isLate },
  } = props;
  const sent = answered?.content ?? answered?.value;
  if (answered && isLate)
    return (
      <div className="flex flex-col gap-2">
        <p className="text-[13px] text-ink-2">
          {answered.by === "user" ? "Answered" : `${answered.by} answered`} after the run ended. The answer is
          kept but has no effect.
        </p>
        <Answer {...props} ticked={ticked} standing={{ status, answered, isOver }} />
      </div>
    );
  if (answered && sent !== undefined) return <Sent answered={answered} sent={sent} />;
  if (answered) return <Answered answered={answered} requested={ask.requested} />;
  // No one waits for an advisory question: a late answer is kept.
  const isLateChance = isOver && status === "open" && ask.requested.mode === "advisory";
  if (isOver && !isLateChance)
    return <p className="text-[13px] text-ink-2">The run ended before this was answered.</p>;
  if (status === "withdrawn")
    return <p className="text-[13px] text-ink-2">The task ended before this was answered.</p>;
  return <FormOfAsk {...props} ticked={ticked} />;
}

function FormOfAsk({ ticked, ...props }: AskProps & { ticked: readonly number[] | null }) {
  const { kind, asks, options, response_schema } = props.ask.requested;
  if (asks) return <QuestionForm {...props} asks={asks} />;
  if (options) return <ChoiceForm {...props} options={options} />;
  // The text answer is entered next to the yes and no buttons.
  if (response_schema && kind !== "escalation") return <ResponseForm {...props} schema={response_schema} />;
  return <AnswerForm {...props} ticked={ticked} />;
}

function Answered({
  answered,
  requested,
}: {
  answered: NonNullable<Interaction["answered"]>;
  requested: Requested;
}) {
  return (
    <p className="text-[13px] text-ink-2">
      {answered.calls
        ? `Approved ${answered.calls.length} of ${requested.calls?.length ?? 0}, rejected the rest`
        : answerLabel(answered, requested)}
      {answered.message ? `: ${answered.message}` : "."}
    </p>
  );
}

/** What was entered in a form, or how a draft was changed. */
function Sent({ answered, sent }: { answered: NonNullable<Interaction["answered"]>; sent: Json }) {
  const { answer, message } = answered;
  return (
    <div className="min-w-0">
      {answer === "chosen" ? (
        <p className="mb-2 text-[13px] text-ink-2">
          {answerLabel(answered)}
          {message ? `: ${message}` : "."}
        </p>
      ) : null}
      <p className="mb-1 text-xs text-ink-3">{answer === "chosen" ? "Final draft" : "Sent answer"}</p>
      <ValueView value={sent} label="answer" />
    </div>
  );
}
