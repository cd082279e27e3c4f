"use client";

import { ExternalLink } from "lucide-react";
import { InputFields } from "@/components/forms/schema/input-field";
import { ErrorText } from "@/components/page/error-text";
import { Button } from "@/components/ui/button";
import { Form } from "@/components/ui/input/form";
import type { ToolQuestion } from "@/server/domain/tool/tool";
import { type Answering, useAnswer } from "./use-answer";

/** What a tool's server asks of a person: the form that it wants filled in, or the address that it wants opened. */
export function QuestionForm({ asks, ...props }: Answering & { asks: ToolQuestion }) {
  const answer = useAnswer(props, asks.schema);
  const send = () => {
    if (!asks.schema) return answer.send({ answer: "approve" });
    const content = answer.readWhole();
    if (content) answer.send({ answer: "approve", content });
  };
  return (
    <Form onSubmit={send}>
      {asks.url === undefined ? null : <Address url={asks.url} from={asks.from} />}
      <InputFields {...answer.input} />
      <ErrorText error={answer.problem} />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" variant="primary" pending={answer.isSent}>
          {asks.url === undefined ? "Send" : "I'm done"}
        </Button>
        <Button disabled={answer.isSent} onClick={() => answer.send({ answer: "reject" })}>
          Decline
        </Button>
        <Button variant="ghost" disabled={answer.isSent} onClick={() => answer.send({ answer: "cancel" })}>
          Skip question
        </Button>
      </div>
      <p className="text-xs text-ink-3">
        {asks.url === undefined
          ? `Sent to “${asks.from}” and stored with the run. Don't enter passwords or keys.`
          : `“${asks.from}” is only notified that you visited the page.`}{" "}
        “Decline” answers no. “Skip question” leaves it unanswered.
      </p>
    </Form>
  );
}

/** An untrusted address: shows where it leads before a person opens it. */
function Address({ url, from }: { url: string; from: string }) {
  return (
    <div className="flex min-w-0 flex-col gap-2 rounded-lg border border-line p-3 text-[13px]">
      <p>
        “{from}” wants you to open a page on{" "}
        <strong className="font-semibold [overflow-wrap:anywhere]">{new URL(url).host}</strong> in your
        browser. Do you trust this host?
      </p>
      <code className="font-mono text-xs text-ink-2 [overflow-wrap:anywhere]">{url}</code>
      <a
        href={url}
        target="_blank"
        rel="noopener noreferrer"
        className="flex items-center gap-1.5 self-start text-accent underline underline-offset-2 hover:text-accent-hover"
      >
        Open in new tab
        <ExternalLink aria-hidden className="size-3.5" />
      </a>
    </div>
  );
}
