"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { FormParts } from "@/components/forms/form-parts";
import { ErrorText } from "@/components/page/error-text";
import { useInvalidate, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Form } from "@/components/ui/input/form";
import { Panel } from "@/components/ui/panel";
import type { FormPart } from "@/server/domain/base/form";
import { ON_CRASH, OnCrash, RISK_LEVELS, RiskLevel } from "@/server/domain/tool/tool";
import {
  describeHints,
  describeOverride,
  EFFECTS,
  type Effect,
  effectOf,
  type McpTool,
  type McpWord,
  proposalOf,
} from "./mcp-word-text";

const CONTENT = [
  {
    value: "strangers",
    label: "Untrusted",
    hint: "Emails, tickets, web pages. Sending data afterward requires approval",
  },
  {
    value: "own",
    label: "Trusted",
    hint: "Content only your team can change, such as a directory",
  },
] as const;
/** The correction of a tool's risk while it is edited. */
interface WordDraft extends Pick<McpWord, "risk" | "on_crash"> {
  effect: Effect;
  content: (typeof CONTENT)[number]["value"];
}

const WORD_FORM: readonly FormPart<WordDraft>[] = [
  { key: "effect", label: "Behavior", as: "choice", options: EFFECTS },
  { key: "content", label: "Result trust", as: "choice", options: CONTENT },
  {
    key: "risk",
    label: "Risk",
    as: "choice",
    unset: "Based on the above",
    options: RiskLevel.options.map((value) => ({ value, label: RISK_LEVELS[value].title })),
  },
  {
    key: "on_crash",
    label: "On crash",
    as: "choice",
    hint: "The call may have happened, but no result arrived",
    showIf: ({ effect }) => effect !== "reads",
    unset: "Based on the risk",
    unsetHint: "Asks a person if the risk is high",
    options: OnCrash.options.map((value) => ({
      value,
      label: ON_CRASH[value].title,
      hint: `${ON_CRASH[value].sentence}.`,
    })),
  },
];

const draftOf = ({ reads, inside, own, ...rest }: McpWord): WordDraft => ({
  ...rest,
  effect: effectOf({ reads, inside }),
  content: own ? "own" : "strangers",
});

const wordOf = ({ effect, content, ...rest }: WordDraft): McpWord => ({
  ...rest,
  reads: effect === "reads",
  inside: effect === "inside",
  own: content === "own",
});

/** The risk of an MCP tool: the hints of its server, and the local correction. */
export function McpToolAnnotations({ server, name }: { server: string; name: string }) {
  const trpc = useTrpc();
  const servers = useQuery(trpc.mcp.list.queryOptions());
  const tool = servers.data?.find((one) => one.name === server)?.tools.find((one) => one.full_name === name);
  if (!tool) return null;
  return (
    <Annotations
      key={`${name} ${tool.fingerprint} ${JSON.stringify(tool.corrected)}`}
      server={server}
      tool={tool}
    />
  );
}

function Annotations({ server, tool }: { server: string; tool: McpTool }) {
  const trpc = useTrpc();
  const invalidate = useInvalidate("mcp", "tools");
  const [draft, setDraft] = useState<WordDraft | null>(null);
  const correct = useMutation(
    trpc.mcp.correct.mutationOptions({
      onError: () => {},
      onSuccess: () => setDraft(null),
      onSettled: invalidate,
    }),
  );
  const { corrected, fixed, hints, fingerprint } = tool;
  const save = (word: McpWord | null) => correct.mutate({ name: server, tool: tool.name, fingerprint, word });
  const begin = () => {
    if (!corrected) return setDraft(draftOf(proposalOf(hints)));
    const { holds: _holds, ...word } = corrected;
    setDraft(draftOf(word));
  };
  return (
    <Panel
      title="Tool annotations"
      description="Server annotations are trusted only if they make a tool more restricted. Overrides apply to agents that start from now on, until the server changes the tool."
    >
      <div className="flex flex-col gap-4 text-[13px]">
        <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-2">
          <dt className="text-ink-2">Server annotations</dt>
          <dd>{describeHints(hints)}</dd>
          {fixed ? (
            <>
              <dt className="text-ink-2">Admin configuration</dt>
              <dd>{describeOverride(fixed)}</dd>
            </>
          ) : null}
          {corrected ? (
            <>
              <dt className="text-ink-2">Override</dt>
              <dd>
                {describeOverride(corrected)}
                {fixed ? " (not used: the admin configuration takes precedence)" : null}
                {!fixed && !corrected.holds ? " (not used: the tool has changed since)" : null}
              </dd>
            </>
          ) : fixed ? null : (
            <>
              <dt className="text-ink-2">Effective</dt>
              <dd>sends data externally, untrusted results</dd>
            </>
          )}
        </dl>
        {fixed ? (
          <p className="text-ink-2">Edit it in the admin's tools file.</p>
        ) : draft ? (
          <Form onSubmit={() => save(wordOf(draft))}>
            <FormParts parts={WORD_FORM} value={draft} onChange={setDraft} />
            <div className="flex gap-2">
              <Button type="submit" variant="primary" pending={correct.isPending}>
                Save
              </Button>
              <Button variant="ghost" onClick={() => setDraft(null)}>
                Cancel
              </Button>
            </div>
          </Form>
        ) : (
          <div className="flex gap-2">
            <Button onClick={begin}>{corrected ? "Change" : "Override"}</Button>
            {corrected ? (
              <Button variant="ghost" pending={correct.isPending} onClick={() => save(null)}>
                Remove override
              </Button>
            ) : null}
          </div>
        )}
        <ErrorText error={correct.error} />
      </div>
    </Panel>
  );
}
