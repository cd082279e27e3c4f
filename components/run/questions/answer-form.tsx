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

const YES_OR_NO: AnswerLabels = { yes: "Approve", no: "Reject", why: "Why not?" };

const ANSWER_LABELS: Partial<Record<Interaction["requested"]["kind"], AnswerLabels>> = {
  tool_confirmation: {
    yes: "Approve",
    no: "Reject",
    why: "Why not? The agent reads this and may try another way.",
  },
  review: { yes: "Approve", no: "Reject", why: "What is wrong with it? The agent reads this." },
  escalation: {
    yes: "Go on",
    no: "Stop",
    why: "Why not?",
    message: "What do you answer? The agent reads this.",
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
          {ticked ? "Approve them for the rest of the run" : "Approve this tool for the rest of the run"}
        </Button>
      ) : null}
      <Button variant="ghost" disabled={isSent} onClick={onReject}>
        {ticked ? `${no} all…` : `${no}…`}
      </Button>
    </div>
  );
}
