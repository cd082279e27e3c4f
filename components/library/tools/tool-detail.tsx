"use client";

import { useMutation } from "@tanstack/react-query";
import clsx from "clsx";
import { Unplug } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { Markdown } from "@/components/display/markdown";
import { ArgumentForm } from "@/components/forms/schema/argument-form";
import { MarkList, SOURCE_LABELS } from "@/components/forms/tools/tool-marks";
import { UncheckedNotes } from "@/components/forms/unchecked-notes";
import { ErrorText } from "@/components/page/error-text";
import { type Answers, useTrpc } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Panel } from "@/components/ui/panel";
import type { CrewToolGrant } from "@/server/domain/crew/crew-tools";
import { McpToolAnnotations } from "./mcp-word";
import { ParameterTable } from "./parameter-table";
import { ToolResult } from "./tool-result";

export type ToolListed = Answers["tools"]["list"]["tools"][number];
export type CrewToolListed = Answers["tools"]["list"]["crew"][number];

/** Shows a tool and tries it out. */
export function ToolDetail({ tool }: { tool: ToolListed }) {
  const server = /^mcp:([^/]+)\//.exec(tool.name)?.[1];
  return (
    <Sheet name={tool.name} badge={server ? `MCP server ${server}` : SOURCE_LABELS[tool.source]}>
      {tool.unavailable === undefined ? null : (
        <div
          role="status"
          className="flex gap-2.5 rounded-lg border border-waiting/35 bg-waiting/10 px-3 py-2.5 text-sm"
        >
          <Unplug aria-hidden="true" className="mt-0.5 size-4 shrink-0 text-waiting" />
          <p className="min-w-0 [overflow-wrap:anywhere]">
            <span className="font-medium">Not available.</span> {tool.unavailable}
            {server ? (
              <Link
                href={`/tools?server=${encodeURIComponent(server)}`}
                className="ml-1 underline underline-offset-2"
              >
                Open server
              </Link>
            ) : /search/.test(tool.name) ? (
              <Link href="/tools?services=1" className="ml-1 underline underline-offset-2">
                Search services
              </Link>
            ) : null}
          </p>
        </div>
      )}
      <div className="max-w-2xl text-ink-2">
        <Markdown text={tool.description} keepsLines />
      </div>
      <MarkList tool={tool} />
      {server ? <McpToolAnnotations server={server} name={tool.name} /> : null}
      <section className="flex flex-col gap-2">
        <h2 className="text-sm font-semibold">Parameters</h2>
        <ParameterTable schema={tool.input_schema} label={`Parameters of ${tool.name}`} />
        <UncheckedNotes schema={tool.input_schema} label={`Parameters of ${tool.name}`} />
      </section>
      <UsedBy roles={tool.used_by} />
      {tool.unavailable === undefined ? <TryOut key={tool.name} tool={tool} /> : null}
    </Sheet>
  );
}

const GRANTS: Record<CrewToolGrant, string> = {
  always: "Available to every agent.",
  way: "Available to agents in swarm crews, even if their role doesn't list it.",
  delegation: "Available to agents with “Allow delegation” enabled in their crew.",
  role: "Available in crews to agents whose role lists it. Crews with a manager add some of these tools when needed.",
};

/** A tool that runs execute themselves. */
export function CrewToolDetail({ tool }: { tool: CrewToolListed }) {
  return (
    <Sheet name={tool.name} badge="Crew tool">
      <p className="max-w-2xl text-ink-2">{tool.description}</p>
      <p className="max-w-2xl text-sm">{GRANTS[tool.grant]}</p>
      <p className="max-w-2xl text-[13px] text-ink-2">
        The run itself executes this tool, so it works only in a crew and can't be tried here.
      </p>
      <UsedBy roles={tool.used_by} />
    </Sheet>
  );
}

export function Sheet({
  name,
  badge,
  actions,
  children,
  isPlace,
}: {
  name: string;
  /** Its name is prose, not a tool name. */
  isPlace?: boolean;
  badge?: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <article aria-label={name} className="min-h-0 flex-1 overflow-y-auto">
      <header className="sticky top-0 z-10 flex min-h-13 flex-wrap items-center gap-3 border-b border-line bg-bg px-4 py-2.5 sm:px-6">
        <h1 className={clsx("min-w-0 truncate text-[15px] font-semibold", !isPlace && "font-mono")}>
          {name}
        </h1>
        {badge ? <Badge className="max-sm:hidden">{badge}</Badge> : null}
        <span className="flex-1" />
        {actions}
      </header>
      <div className="flex max-w-3xl flex-col gap-6 px-4 py-6 sm:px-6">{children}</div>
    </article>
  );
}

function UsedBy({ roles }: { roles: readonly string[] }) {
  return (
    <section className="flex flex-col gap-2">
      <h2 className="text-sm font-semibold">Used by</h2>
      {roles.length === 0 ? (
        <p className="text-[13px] text-ink-2">
          Not used by any role. Add it to a role on the{" "}
          <Link href="/roles" className="underline underline-offset-2 hover:text-accent">
            Roles page
          </Link>
          .
        </p>
      ) : (
        <ul aria-label="Roles with this tool" className="flex flex-wrap gap-1.5">
          {roles.map((role) => (
            <li key={role}>
              <Link
                href={`/roles?role=${encodeURIComponent(role)}`}
                className="inline-flex h-7 items-center rounded-lg border border-line bg-surface px-2.5 text-[13px] hover:border-line-strong"
              >
                {role}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function TryOut({ tool }: { tool: ToolListed }) {
  const trpc = useTrpc();
  const call = useMutation(trpc.tools.tryOut.mutationOptions({ onError: () => {} }));
  return (
    <Panel title="Try it" description="Makes a real call outside any run. Recorded in the audit log.">
      <div className="flex flex-col gap-4">
        <ArgumentForm
          schema={tool.input_schema}
          submit="Run tool"
          pending={call.isPending}
          onSubmit={(args) => call.mutate({ name: tool.name, args })}
        />
        <div aria-live="polite">
          {call.data ? <ToolResult output={call.data.output} duration={call.data.duration_ms} /> : null}
          <ErrorText error={call.error} />
        </div>
      </div>
    </Panel>
  );
}
