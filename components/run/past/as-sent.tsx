"use client";

import { useMemo } from "react";
import { countOf } from "@/components/display/format";
import { TextBlock, ValueView } from "@/components/run/values";
import { Badge } from "@/components/ui/badge";
import { Dialog } from "@/components/ui/overlay/dialog";
import type { ChatMessage } from "@/server/domain/run/events";
import { asSent } from "@/server/domain/run/past/as-sent";
import { useAllEvents } from "./use-past";

const WHO: Record<ChatMessage["role"], string> = {
  system: "System",
  user: "User",
  assistant: "Assistant",
  tool: "Tool result",
};

/** What a model was sent with one call: what the agent knew at that moment, and nothing else. */
export function AsSentDialog({ callId, onClose }: { callId: string; onClose: () => void }) {
  const events = useAllEvents();
  const sent = useMemo(() => asSent(events, callId), [events, callId]);
  return (
    <Dialog
      title="Exact prompt"
      description="Everything sent to the model in this call."
      size="lg"
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
    >
      {sent === null ? (
        <p className="text-[13px] text-ink-2">This call isn't loaded yet.</p>
      ) : (
        <div className="flex flex-col gap-3">
          {sent.doubt ? (
            <p role="note" className="rounded-lg border border-waiting/40 bg-waiting/8 px-3 py-2 text-[13px]">
              {sent.doubt}
            </p>
          ) : null}
          <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-3">
            <span>{countOf(sent.messages.length, "message")}</span>
            {sent.response_format ? (
              <span>Response format: {sent.response_format.replaceAll("_", " ")}</span>
            ) : null}
            {sent.condensed > 0 ? <span>{countOf(sent.condensed, "message")} shortened earlier</span> : null}
          </p>
          <ol aria-label="Messages sent" className="flex flex-col gap-3">
            {sent.messages.map((message, at) => (
              <li key={at} className="flex min-w-0 flex-col gap-1">
                <h3 className="text-xs font-semibold text-ink-2">
                  {WHO[message.role]}
                  {message.name ? <code className="ml-1.5 font-mono font-normal">{message.name}</code> : null}
                </h3>
                {message.content === "" ? null : (
                  <TextBlock text={message.content} label={`message ${at + 1}`} tone="quiet" mono />
                )}
                {message.tool_calls?.map(({ id, tool_name, args }) => (
                  <div key={id} className="flex flex-col gap-1 text-xs">
                    <span>
                      Called <code className="font-mono">{tool_name}</code>
                    </span>
                    <ValueView value={args} label={`arguments of ${tool_name}`} />
                  </div>
                ))}
              </li>
            ))}
          </ol>
          <section aria-label="Tools" className="flex flex-wrap items-center gap-1.5 text-xs text-ink-2">
            {sent.tools.length === 0 ? "No tools." : "Tools:"}
            {sent.tools.map((tool) => (
              <Badge key={tool}>{tool}</Badge>
            ))}
          </section>
        </div>
      )}
    </Dialog>
  );
}
