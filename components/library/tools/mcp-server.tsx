"use client";

import { useMutation } from "@tanstack/react-query";
import { PencilLine, Power, RefreshCw, Trash2 } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { UncheckedNotes } from "@/components/forms/unchecked-notes";
import { ErrorText } from "@/components/page/error-text";
import { useInvalidate, useTrpc } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { MoreMenu } from "@/components/ui/overlay/more-menu";
import { useConfirm } from "@/components/ui/overlay/use-confirm";
import { Panel } from "@/components/ui/panel";
import { TimeText } from "@/components/ui/time-text";
import { toast } from "@/components/ui/toasts";
import { lineDifferences } from "./line-differences";
import { McpForm } from "./mcp-form";
import { McpOffers } from "./mcp-offers";
import { McpSignIn } from "./mcp-sign-in";
import type { McpListed } from "./mcp-word-text";
import { describeHints, describeOverride } from "./mcp-word-text";
import { ParameterTable } from "./parameter-table";
import { Sheet } from "./tool-detail";

type McpTool = McpListed["tools"][number];

const STATES = {
  connected: { word: "Connected", tone: "completed" },
  connecting: { word: "Connecting", tone: "neutral" },
  failed: { word: "Not connected", tone: "failed" },
  needs_sign_in: { word: "Needs sign-in", tone: "waiting" },
  off: { word: "Disabled", tone: "neutral" },
} as const;

/** An MCP server: its state, and the approval of its tools. */
export function McpServer({ server }: { server: McpListed }) {
  const trpc = useTrpc();
  const router = useRouter();
  const onSettled = useInvalidate("mcp", "tools");
  const [isEditing, setEditing] = useState(false);
  const refresh = useMutation(trpc.mcp.refresh.mutationOptions({ onSettled }));
  const setEnabled = useMutation(trpc.mcp.setEnabled.mutationOptions({ onSettled }));
  const remove = useMutation(
    trpc.mcp.remove.mutationOptions({
      onSettled,
      onSuccess: () => {
        toast(`Removed “${server.name}”`);
        router.replace("/tools");
      },
    }),
  );
  const removal = useConfirm({
    danger: true,
    title: `Remove “${server.name}”?`,
    description:
      "This also deletes its stored authorization and approvals. Roles that use its tools will run without them. You can't undo this.",
    confirm: "Remove server",
    onConfirm: () => remove.mutateAsync({ name: server.name }),
  });
  return (
    <Sheet
      name={server.name}
      badge="MCP server"
      actions={
        <>
          <Button
            icon={<RefreshCw aria-hidden="true" />}
            pending={refresh.isPending}
            disabled={!server.is_enabled}
            onClick={() => refresh.mutate({ name: server.name })}
          >
            Refresh
          </Button>
          {server.from_file ? null : (
            <MoreMenu
              label={`Actions for ${server.name}`}
              items={[
                { label: "Edit", icon: <PencilLine />, onSelect: () => setEditing(true) },
                {
                  label: server.is_enabled ? "Disable" : "Enable",
                  icon: <Power />,
                  onSelect: () => setEnabled.mutate({ name: server.name, is_enabled: !server.is_enabled }),
                },
                "separator",
                { label: "Remove", icon: <Trash2 />, danger: true, onSelect: removal.open },
              ]}
            />
          )}
        </>
      }
    >
      {isEditing ? <McpForm saved={server} onDone={() => setEditing(false)} /> : <Facts server={server} />}
      <Remarks server={server} />
      <ServerTools server={server} />
      <McpOffers server={server} />
      {removal.dialog}
    </Sheet>
  );
}

/** The connection to a server, and its authorization. */
function Facts({ server }: { server: McpListed }) {
  const { word, tone } = STATES[server.state];
  return (
    <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-2 text-[13px]">
      <dt className="text-ink-2">Status</dt>
      <dd className="flex flex-wrap items-center gap-2">
        <Badge tone={tone}>{word}</Badge>
        {server.latency_ms === null ? null : (
          <span className="text-ink-3 tabular-nums">responds in {server.latency_ms} ms</span>
        )}
        {server.connected_at === null ? null : (
          <span className="text-ink-3">
            since <TimeText at={server.connected_at} />
          </span>
        )}
      </dd>
      <dt className="text-ink-2">{server.kind === "http" ? "Address" : "Command"}</dt>
      <dd className="min-w-0 font-mono text-xs leading-5 [overflow-wrap:anywhere]">{server.where}</dd>
      <dt className="text-ink-2">Authorization</dt>
      <dd>
        {server.has_authorization
          ? `Stored${server.authorization_hint ? `, ends in ${server.authorization_hint}` : ""}`
          : "None"}
      </dd>
      {server.sign_in && !server.has_authorization ? (
        <>
          <dt className="text-ink-2">Sign-in</dt>
          <dd>
            <McpSignIn server={server} />
          </dd>
        </>
      ) : null}
    </dl>
  );
}

/** Where the server is declared, and its problems. */
function Remarks({ server }: { server: McpListed }) {
  return (
    <>
      {server.from_file ? (
        <p className="text-[13px] text-ink-2">Configured in the admin's tools file. Edit it there.</p>
      ) : null}
      {server.last_error ? (
        <p
          role="status"
          className={
            server.state === "needs_sign_in"
              ? "rounded-lg bg-waiting/10 px-3 py-2 text-[13px] [overflow-wrap:anywhere]"
              : "rounded-lg bg-failed/8 px-3 py-2 text-[13px] text-failed [overflow-wrap:anywhere]"
          }
        >
          {server.last_error}
        </p>
      ) : null}
      {server.problems.length > 0 ? (
        <ul aria-label="Unavailable items" className="list-disc pl-5 text-[13px] text-ink-2">
          {server.problems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      ) : null}
    </>
  );
}

/** The tools of a server. An approval is for the current description of a tool. */
function ServerTools({ server }: { server: McpListed }) {
  const trpc = useTrpc();
  const onSettled = useInvalidate("mcp", "tools");
  const approve = useMutation(
    trpc.mcp.approve.mutationOptions({
      onSettled,
      onSuccess: ({ refused }) => {
        if (refused.length > 0)
          toast("Some tools have changed again. Review them again before you approve.", {
            tone: "error",
          });
      },
    }),
  );
  const withdraw = useMutation(trpc.mcp.withdraw.mutationOptions({ onSettled }));
  const open = server.tools.filter(({ state }) => state === "new" || state === "changed");
  const allow = (tools: readonly McpTool[]) =>
    approve.mutate({
      name: server.name,
      tools: tools.map(({ name, fingerprint }) => ({ tool: name, fingerprint })),
    });
  return (
    <>
      <Panel
        flush
        title="Tools"
        description={
          open.length > 0
            ? "Review each description before you approve the tool. Models trust what it says."
            : "An approval covers the exact description. If the server changes it, you must approve the tool again."
        }
        actions={
          open.length > 1 ? (
            <Button pending={approve.isPending} onClick={() => allow(open)}>
              {`Approve all ${open.length}`}
            </Button>
          ) : null
        }
      >
        {server.tools.length === 0 ? (
          <EmptyState title={server.state === "connected" ? "No tools offered" : "Tools not loaded yet"}>
            {server.state === "connected" ? null : "Connect the server to load its tools."}
          </EmptyState>
        ) : (
          <ul aria-label={`Tools of ${server.name}`} className="divide-y divide-line">
            {server.tools.map((tool) => (
              <ToolRow
                key={tool.name}
                tool={tool}
                pending={approve.isPending || withdraw.isPending}
                onApprove={() => allow([tool])}
                onWithdraw={() => withdraw.mutate({ name: server.name, tool: tool.name })}
              />
            ))}
          </ul>
        )}
      </Panel>
      <ErrorText error={approve.error} />
    </>
  );
}

const TOOL_STATES = {
  approved: { word: "Approved", tone: "completed" },
  new: { word: "New", tone: "waiting" },
  changed: { word: "Changed", tone: "waiting" },
  gone: { word: "Gone", tone: "neutral" },
} as const;

function ToolRow({
  tool,
  pending,
  onApprove,
  onWithdraw,
}: {
  tool: McpTool;
  pending: boolean;
  onApprove: () => void;
  onWithdraw: () => void;
}) {
  const { word, tone } = TOOL_STATES[tool.state];
  const isOpen = tool.state === "new" || tool.state === "changed";
  return (
    <li className="flex flex-col gap-2 px-4 py-3">
      <div className="flex flex-wrap items-center gap-2">
        <Link
          href={`/tools?tool=${encodeURIComponent(tool.full_name)}`}
          className="min-w-0 truncate font-mono text-[13px] font-medium hover:text-accent"
        >
          {tool.name}
        </Link>
        <Badge tone={tone}>{word}</Badge>
        <span className="flex-1" />
        {isOpen ? (
          <Button size="sm" aria-label={`Approve ${tool.name}`} disabled={pending} onClick={onApprove}>
            Approve
          </Button>
        ) : (
          <Button
            size="sm"
            variant="ghost"
            aria-label={`Revoke approval of ${tool.name}`}
            disabled={pending}
            onClick={onWithdraw}
          >
            Revoke
          </Button>
        )}
      </div>
      {tool.approved ? (
        <Differences label={`Changes in ${tool.name}`} before={textOf(tool.approved)} after={textOf(tool)} />
      ) : (
        <>
          <p className="whitespace-pre-wrap text-[13px] text-ink-2 [overflow-wrap:anywhere]">
            {tool.description || "No description."}
          </p>
          {isOpen ? <ParameterTable schema={tool.input_schema} label={`Parameters of ${tool.name}`} /> : null}
          {isOpen && tool.output_schema ? (
            <ParameterTable
              schema={tool.output_schema}
              label={`Results of ${tool.name}`}
              one="Result"
              none="No result schema."
            />
          ) : null}
        </>
      )}
      {tool.fixed || tool.corrected ? (
        <p className="text-[13px] text-ink-2">
          Server annotations: {describeHints(tool.hints)};{" "}
          {tool.fixed
            ? `admin configuration: ${describeOverride(tool.fixed)}`
            : tool.corrected
              ? `override: ${describeOverride(tool.corrected)}${tool.corrected.holds ? "" : " (not used: the tool has changed since)"}`
              : null}
        </p>
      ) : null}
      {isOpen ? <UncheckedNotes schema={tool.input_schema} label={`Parameters of ${tool.name}`} /> : null}
    </li>
  );
}

/** Everything that an approval covers, as text. */
const textOf = ({ description, input_schema, output_schema, hints }: NonNullable<McpTool["approved"]>) =>
  [
    description,
    `Input: ${JSON.stringify(input_schema, null, 2)}`,
    ...(output_schema ? [`Output: ${JSON.stringify(output_schema, null, 2)}`] : []),
    ...(Object.keys(hints).length > 0 ? [`Annotations: ${JSON.stringify(hints, null, 2)}`] : []),
  ].join("\n\n");

function Differences({ label, before, after }: { label: string; before: string; after: string }) {
  return (
    <section
      tabIndex={0}
      aria-label={label}
      className="max-h-96 overflow-auto rounded-lg border border-line bg-sunken py-1 font-mono text-xs leading-5"
    >
      {lineDifferences(before, after).map(({ kind, text }, at) => (
        <div
          key={at}
          className={
            kind === "before"
              ? "bg-failed/10 px-3"
              : kind === "after"
                ? "bg-completed/12 px-3"
                : "px-3 text-ink-2"
          }
        >
          <span aria-hidden="true" className="mr-2 select-none text-ink-3">
            {kind === "before" ? "−" : kind === "after" ? "+" : " "}
          </span>
          <span className="sr-only">{kind === "before" ? "Before: " : kind === "after" ? "Now: " : ""}</span>
          <span className="whitespace-pre-wrap [overflow-wrap:anywhere]">{text}</span>
        </div>
      ))}
    </section>
  );
}
