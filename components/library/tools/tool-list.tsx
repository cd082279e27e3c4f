"use client";

import clsx from "clsx";
import { Code, Globe, Plus, Search, Server, Trash2, Unplug } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { type ReactNode, useId, useState } from "react";
import type { Answers } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Menu } from "@/components/ui/menu";
import { TextField } from "@/components/ui/text-field";
import type { CrewToolListed, ToolListed } from "./tool-detail";

export interface ToolListProps {
  tools: readonly ToolListed[];
  crew: readonly CrewToolListed[];
  custom: Answers["customTools"]["list"];
  servers: Answers["mcp"]["list"];
  /** The part of the address behind the question mark. */
  current: string;
}

/** Every tool by where it comes from, with a search over names and descriptions. */
export function ToolList({ tools, crew, custom, servers, current }: ToolListProps) {
  const router = useRouter();
  const [search, setSearch] = useState("");
  const terms = search.trim().toLowerCase().split(/\s+/);
  const fits = ({ name, description }: { name: string; description: string }) =>
    terms.every((word) => `${name} ${description}`.toLowerCase().includes(word));
  const of = (source: ToolListed["source"]) => tools.filter((tool) => tool.source === source && fits(tool));
  const isSearching = search.trim() !== "";
  const groups: { title: string; extra?: ReactNode; items: ReactNode[] }[] = [
    { title: "Come with Troupe", items: of("builtin").map((tool) => row(tool)) },
    {
      title: "Written here",
      items: of("custom").map((tool) => row(tool, `custom=${encodeURIComponent(tool.name)}`)),
    },
    { title: "Declared by the operator", items: of("operator").map((tool) => row(tool)) },
    ...servers.map((server) => ({
      title: `MCP server ${server.name}`,
      items: [
        ...(isSearching
          ? []
          : [
              <Row
                key="server"
                href={`server=${encodeURIComponent(server.name)}`}
                current={current}
                icon={<Server aria-hidden="true" className="size-4" />}
                name={server.name}
                about={describeServer(server)}
                mark={server.state === "connected" || !server.is_enabled ? undefined : "Not connected"}
              />,
            ]),
        ...tools
          .filter((tool) => tool.name.startsWith(`mcp:${server.name}/`) && fits(tool))
          .map((tool) => row(tool)),
      ],
    })),
    {
      title: "Crew tools",
      items: crew
        .filter(fits)
        .map(({ name, description }) => (
          <Row
            key={name}
            href={`tool=${encodeURIComponent(name)}`}
            current={current}
            name={name}
            about={description}
            mono
          />
        )),
    },
  ].filter(({ items }) => items.length > 0);

  function row(tool: ToolListed, href?: string) {
    return (
      <Row
        key={tool.name}
        href={href ?? `tool=${encodeURIComponent(tool.name)}`}
        current={current}
        name={tool.name.replace(/^mcp:[^/]+\//, "")}
        about={tool.description}
        mark={tool.unavailable === undefined ? undefined : "Not available"}
        mono
      />
    );
  }

  return (
    <>
      <header className="flex flex-col gap-3 px-4 pt-6 pb-3">
        <div className="flex items-center gap-1">
          <h1 className="flex-1 font-serif text-[34px] leading-10 tracking-[-0.01em]">Tools</h1>
          <Menu
            align="end"
            trigger={<Button icon={<Plus aria-hidden="true" />}>New</Button>}
            items={[
              {
                label: "MCP server",
                hint: "Tools of another program, over HTTP",
                icon: <Server />,
                onSelect: () => router.push("/tools?new-server=1"),
              },
              {
                label: "Tool of your own",
                hint: "JavaScript that runs in a sandbox",
                icon: <Code />,
                onSelect: () => router.push("/tools?new=1"),
              },
            ]}
          />
        </div>
        <TextField
          label="Search tools"
          hideLabel
          type="search"
          placeholder="Search tools"
          icon={<Search aria-hidden="true" />}
          value={search}
          onValueChange={setSearch}
        />
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-4">
        {groups.map(({ title, items }) => (
          <Group key={title} title={title}>
            {items}
          </Group>
        ))}
        {groups.length === 0 ? <EmptyState title={`No tool matches “${search}”`} /> : null}
        {isSearching ? null : (
          <Group title="Set up">
            <Row
              href="services=1"
              current={current}
              icon={<Globe aria-hidden="true" className="size-4" />}
              name="Search services"
              about="What web_search and code_search ask"
            />
            {custom.bin.length > 0 ? (
              <Row
                href="bin=1"
                current={current}
                icon={<Trash2 aria-hidden="true" className="size-4" />}
                name="Bin"
                about={`${custom.bin.length} ${custom.bin.length === 1 ? "tool" : "tools"} of your own`}
              />
            ) : null}
          </Group>
        )}
        {isSearching || servers.length > 0 ? null : (
          <div className="mx-2 mt-3 rounded-lg border border-dashed border-line-strong p-3 text-[13px] text-ink-2">
            More tools come from MCP servers: databases, issue trackers, calendars and the like.
            <ButtonLink href="/tools?new-server=1" size="sm" className="mt-2">
              Add an MCP server
            </ButtonLink>
          </div>
        )}
      </div>
    </>
  );
}

function describeServer(server: Answers["mcp"]["list"][number]): string {
  if (!server.is_enabled) return "Switched off";
  if (server.state === "needs_sign_in") return "Needs sign-in";
  const waiting = server.tools.filter(({ state }) => state === "new" || state === "changed").length;
  if (waiting > 0) return `${waiting} ${waiting === 1 ? "tool waits" : "tools wait"} for approval`;
  return `${server.tools.length} ${server.tools.length === 1 ? "tool" : "tools"}`;
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="pt-3">
      <h2 id={id} className="px-2 pb-1 text-xs font-semibold text-ink-3">
        {title}
      </h2>
      <ul>{children}</ul>
    </section>
  );
}

function Row({
  href,
  current,
  icon,
  name,
  about,
  mark,
  mono,
}: {
  href: string;
  current: string;
  icon?: ReactNode;
  name: string;
  about: string;
  mark?: string | undefined;
  mono?: boolean;
}) {
  const isHere = new URLSearchParams(href).toString() === current;
  return (
    <li>
      <Link
        href={`/tools?${href}`}
        aria-current={isHere ? "true" : undefined}
        className={clsx(
          "flex items-center gap-2.5 rounded-lg px-2 py-1.5 transition-colors",
          isHere ? "bg-ink/7" : "hover:bg-ink/3.5",
        )}
      >
        {icon ? <span className="text-ink-3">{icon}</span> : null}
        <span className="min-w-0 flex-1">
          <span className={clsx("block truncate", mono ? "font-mono text-[13px]" : "text-sm font-medium")}>
            {name}
          </span>
          <span className="block truncate text-[13px] text-ink-2">{about}</span>
        </span>
        {mark ? (
          <span title={mark} className="text-waiting">
            <Unplug aria-hidden="true" className="size-4" />
            <span className="sr-only">{mark}</span>
          </span>
        ) : null}
      </Link>
    </li>
  );
}
