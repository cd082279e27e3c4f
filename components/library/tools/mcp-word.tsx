"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ErrorText } from "@/components/page/error-text";
import { useInvalidate, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Form } from "@/components/ui/input/form";
import { Select } from "@/components/ui/input/select";
import { Panel } from "@/components/ui/panel";
import { ON_CRASH, OnCrash, RISK_LEVELS, RiskLevel } from "@/server/domain/tool/tool";
import {
  describeHints,
  describeOverride,
  EFFECTS,
  effectOf,
  type McpTool,
  type McpWord,
  proposalOf,
} from "./mcp-word-text";

const CONTENT = [
  {
    value: "strangers",
    label: "Content of strangers",
    hint: "Mails, tickets, web pages: who has read it is asked before anything leaves.",
  },
  {
    value: "own",
    label: "Our own",
    hint: "Nobody else can write into what it gives back, such as a directory.",
  },
] as const;
const RISKS = [
  { value: "told" as const, label: "As it follows from that" },
  ...RiskLevel.options.map((value) => ({ value, label: RISK_LEVELS[value].title })),
];
const AFTER_CRASH = [
  { value: "told" as const, label: "As it follows from the risk", hint: "People are asked at high risk." },
  ...OnCrash.options.map((value) => ({
    value,
    label: ON_CRASH[value].title,
    hint: `${ON_CRASH[value].sentence}.`,
  })),
];

/** What a tool of an MCP server really does: what the server says of it, and what somebody here says. */
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
  const [draft, setDraft] = useState<McpWord | null>(null);
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
    if (!corrected) return setDraft(proposalOf(hints));
    const { holds: _holds, ...word } = corrected;
    setDraft(word);
  };
  return (
    <Panel
      title="What it really does"
      description="A server’s own word is believed only where it warns. What is chosen here holds for agents that begin to work from now on, until the server changes the tool."
    >
      <div className="flex flex-col gap-4 text-[13px]">
        <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-2">
          <dt className="text-ink-2">Said by the server</dt>
          <dd>{describeHints(hints)}</dd>
          {fixed ? (
            <>
              <dt className="text-ink-2">Said by the operator’s file</dt>
              <dd>{describeOverride(fixed)}</dd>
            </>
          ) : null}
          {corrected ? (
            <>
              <dt className="text-ink-2">Corrected to</dt>
              <dd>
                {describeOverride(corrected)}
                {fixed ? " (not used: the operator’s file goes before it)" : null}
                {!fixed && !corrected.holds ? " (not used: the server has changed the tool since)" : null}
              </dd>
            </>
          ) : fixed ? null : (
            <>
              <dt className="text-ink-2">Taken for</dt>
              <dd>acts on the outside, its results are content of strangers</dd>
            </>
          )}
        </dl>
        {fixed ? (
          <p className="text-ink-2">It is changed in the tools file of whoever runs this installation.</p>
        ) : draft ? (
          <Form onSubmit={() => save(draft)}>
            <Select
              label="What it does"
              options={EFFECTS}
              value={effectOf(draft)}
              onValueChange={(effect) =>
                setDraft({ ...draft, reads: effect === "reads", inside: effect === "inside" })
              }
            />
            <Select
              label="What it gives back"
              options={CONTENT}
              value={draft.own ? "own" : "strangers"}
              onValueChange={(content) => setDraft({ ...draft, own: content === "own" })}
            />
            <Select
              label="Risk"
              options={RISKS}
              value={draft.risk ?? "told"}
              onValueChange={(chosen) => {
                const { risk: _risk, ...rest } = draft;
                setDraft(chosen === "told" ? rest : { ...rest, risk: chosen });
              }}
            />
            {draft.reads ? null : (
              <Select
                label="A call in flight at a crash"
                hint="It may have happened: the server stopped before the answer came."
                options={AFTER_CRASH}
                value={draft.on_crash ?? "told"}
                onValueChange={(chosen) => {
                  const { on_crash: _on_crash, ...rest } = draft;
                  setDraft(chosen === "told" ? rest : { ...rest, on_crash: chosen });
                }}
              />
            )}
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
            <Button onClick={begin}>{corrected ? "Change" : "Correct it"}</Button>
            {corrected ? (
              <Button variant="ghost" pending={correct.isPending} onClick={() => save(null)}>
                Take it back
              </Button>
            ) : null}
          </div>
        )}
        <ErrorText error={correct.error} />
      </div>
    </Panel>
  );
}
