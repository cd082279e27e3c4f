import { useId, useState } from "react";
import { Button } from "@/components/ui/button";
import { TextArea } from "@/components/ui/input/text-area";
import { defined } from "@/server/domain/base/defined";
import type { Interaction } from "@/server/domain/run";
import type { AskProps } from "./ask-props";
import { notByEnter } from "./choice-form";
import { TimeLeft } from "./time-left";
import { useAnswer } from "./use-answer";

interface AnswerLabels {
  yes: string;
  no: string;
  /** Asks for the reason for a no. */
  why: string;
  /** Asks for a message that comes with a yes. */
  message?: string;
}

const YES_OR_NO: AnswerLabels = { yes: "Approve", no: "Reject", why: "Reason" };

const ANSWER_LABELS: Partial<Record<Interaction["requested"]["kind"], AnswerLabels>> = {
  tool_confirmation: {
    yes: "Approve",
    no: "Reject",
    why: "Reason (sent to the agent)",
  },
  review: { yes: "Approve", no: "Reject", why: "Feedback (sent to the agent)" },
  escalation: {
    yes: "Continue",
    no: "Stop",
    why: "Reason",
    message: "Your answer (sent to the agent)",
  },
};

/** A question that is approved or rejected. `ticked`: the approved calls, if there are several. */
export function AnswerForm({ ticked, ...props }: AskProps & { ticked: readonly number[] | null }) {
  const { requested } = props.ask;
  const [isRejecting, setRejecting] = useState(false);
  const [message, setMessage] = useState("");
  const note = useId();
  const { send, isSent, problem } = useAnswer(props, undefined);
  const labels = ANSWER_LABELS[requested.kind] ?? YES_OR_NO;
  const isPartial = ticked !== null && ticked.length < (requested.calls?.length ?? 0);
  const give = (answer: YesOrNo) =>
    send({
      answer,
      ...defined({
        calls: answer !== "reject" && isPartial ? [...ticked] : undefined,
        message: message.trim() || undefined,
      }),
    });
  return (
    <div className="crew-answer flex flex-col gap-2.5">
      {isRejecting || labels.message ? (
        <TextArea
          key={isRejecting ? "no" : "yes"}
          label={isRejecting ? labels.why : (labels.message ?? "")}
          value={message}
          onValueChange={setMessage}
          rows={2}
          maxLength={4000}
          autoFocus={isRejecting}
        />
      ) : null}
      {isRejecting ? (
        <div className="flex flex-wrap gap-2">
          <Button variant="danger" pending={isSent} onClick={() => give("reject")}>
            {labels.no}
          </Button>
          <Button variant="ghost" onClick={() => setRejecting(false)}>
            Back
          </Button>
        </div>
      ) : (
        <AnswerButtons
          {...{ requested, labels, ticked, isSent, note }}
          onApprove={give}
          onReject={() => setRejecting(true)}
        />
      )}
      {problem ? (
        <p role="alert" className="text-[13px] text-failed">
          {problem}
        </p>
      ) : null}
      {isRejecting ? null : (
        <p id={note} className="text-xs text-ink-3">
          <TimeLeft ask={props.ask} />
        </p>
      )}
    </div>
  );
}

type YesOrNo = "approve" | "approve_always" | "reject";

function AnswerButtons({
  requested: { tool_name, calls = [] },
  labels: { yes, no },
  ticked,
  isSent,
  note,
  onApprove,
  onReject,
}: {
  requested: Interaction["requested"];
  labels: AnswerLabels;
  ticked: readonly number[] | null;
  isSent: boolean;
  /** The id of the element that describes the buttons. */
  note: string;
  onApprove: (answer: YesOrNo) => void;
  onReject: () => void;
}) {
  const isNone = ticked?.length === 0;
  return (
    <div className="flex flex-wrap gap-2">
      <Button
        variant="primary"
        aria-describedby={note}
        pending={isSent}
        disabled={isNone}
        onKeyDown={notByEnter}
        onClick={() => onApprove("approve")}
      >
        {ticked ? `${yes} ${ticked.length} of ${calls.length}` : yes}
      </Button>
      {tool_name || ticked ? (
        <Button
          aria-describedby={note}
          disabled={isSent || isNone}
          onKeyDown={notByEnter}
          onClick={() => onApprove("approve_always")}
        >
          {ticked ? "Always approve these in this run" : "Always approve this tool in this run"}
        </Button>
      ) : null}
      <Button variant="ghost" disabled={isSent} onClick={onReject}>
        {ticked ? `${no} all…` : `${no}…`}
      </Button>
    </div>
  );
}
