"use client";

import { useState } from "react";
import { countOf } from "@/components/display/format";
import { person } from "@/components/run/timeline/sentence-parts";
import { Disclosure } from "@/components/ui/disclosure";
import { Select } from "@/components/ui/input/select";
import { TextArea } from "@/components/ui/input/text-area";
import type { AgentView } from "@/server/domain/run";
import { type MessageDraft, messageKey } from "./fork-draft";

const ROLES = { system: "System", user: "User", assistant: "Assistant", tool: "Tool result" } as const;

/** Edits the messages of conversations that continue in the fork. */
export function ForkMessages({
  agents,
  draft,
  changed,
  onChange,
}: {
  agents: readonly AgentView[];
  draft: MessageDraft;
  /** How many say something else. */
  changed: number;
  onChange: (draft: MessageDraft) => void;
}) {
  const options = agents.flatMap((agent) =>
    agent.messages.map((message, at) => ({
      value: messageKey(agent.key, at),
      label: `${person(agent.agent_id)} ${at + 1}. ${ROLES[message.role]}: ${shortened(message.content)}`,
      content: message.content,
    })),
  );
  const [chosen, setChosen] = useState(options.at(-1)?.value ?? "");
  const option = options.find(({ value }) => value === chosen);
  if (!option) return null;
  return (
    <Disclosure
      variant="box"
      title="Agent messages"
      aside={changed > 0 ? `${countOf(changed, "message")} changed` : "Unchanged"}
    >
      <p className="text-[13px] text-ink-2">
        Messages in active agents' conversations. Edits apply from the next model call.
      </p>
      <Select
        label="Message"
        options={options.map(({ value, label }) => ({ value, label }))}
        value={chosen}
        onValueChange={setChosen}
      />
      <TextArea
        label="Content"
        rows={5}
        value={draft[chosen] ?? option.content}
        onValueChange={(content) => onChange({ ...draft, [chosen]: content })}
      />
    </Disclosure>
  );
}

const shortened = (text: string) => {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 60 ? `${line.slice(0, 59)}…` : line;
};
