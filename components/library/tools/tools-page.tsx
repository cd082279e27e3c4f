"use client";

import { useQuery } from "@tanstack/react-query";
import { Code, Globe, Plus, Server, Trash2, Unplug, Wrench } from "lucide-react";
import dynamic from "next/dynamic";
import { useRouter, useSearchParams } from "next/navigation";
import type { ReactNode } from "react";
import { countOf } from "@/components/display/format";
import { LibraryList, type LibraryRow } from "@/components/library/library-list";
import { editorLoading as loading } from "@/components/library/library-page";
import { LoadError } from "@/components/page/error-text";
import { SplitPage } from "@/components/page/split-page";
import { type Answers, useTrpc } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Menu } from "@/components/ui/overlay/menu";
import { CrewToolDetail, type CrewToolListed, ToolDetail, type ToolListed } from "./tool-detail";

const McpServer = dynamic(() => import("./mcp-server").then((m) => m.McpServer), { ssr: false, loading });
const NewMcpServer = dynamic(() => import("./mcp-form").then((m) => m.NewMcpServer), { ssr: false, loading });
const CustomToolEditor = dynamic(() => import("./custom-tool-editor").then((m) => m.CustomToolEditor), {
  ssr: false,
  loading,
});
const CustomToolBin = dynamic(() => import("./custom-tool-editor").then((m) => m.CustomToolBin), {
  ssr: false,
  loading,
});
const SearchServices = dynamic(() => import("./search-services").then((m) => m.SearchServices), {
  ssr: false,
  loading,
});

/** The tools next to the open tool, server or form. */
export function ToolsPage() {
  const params = useSearchParams();
  const trpc = useTrpc();
  const tools = useQuery(trpc.tools.list.queryOptions());
  const custom = useQuery(trpc.customTools.list.queryOptions());
  const servers = useQuery(trpc.mcp.list.queryOptions());
  const error = tools.error ?? custom.error ?? servers.error;
  if (!tools.data || !custom.data || !servers.data)
    return error ? (
      <LoadError what="tools" queries={[tools, custom, servers]} isPage className="h-full justify-center" />
    ) : (
      loading()
    );

  const view = openView(params, { tools: tools.data, custom: custom.data, servers: servers.data });
  return (
    <SplitPage
      label="All tools"
      href="/tools"
      isOpen={view !== null}
      list={
        <ToolList
          tools={tools.data.tools}
          crew={tools.data.crew}
          custom={custom.data}
          servers={servers.data}
          current={params.toString()}
        />
      }
    >
      {view ?? (
        <EmptyState
          className="h-full justify-center"
          icon={<Wrench />}
          title="Select a tool"
          actions={
            <>
              <ButtonLink href="/tools?new-server=1">Connect MCP server</ButtonLink>
              <ButtonLink href="/tools?new=1">Create tool</ButtonLink>
              <ButtonLink href="/tools?services=1">Set up web search</ButtonLink>
            </>
          }
        >
          Tools let agents act: search, read pages, write files, call services. Each agent can use only its
          role's tools.
        </EmptyState>
      )}
    </SplitPage>
  );
}

interface Lists {
  tools: Answers["tools"]["list"];
  custom: Answers["customTools"]["list"];
  servers: Answers["mcp"]["list"];
}

/** What the address opens; null if nothing. */
function openView(params: URLSearchParams, { tools, custom, servers }: Lists): ReactNode {
  const chosen = params.get("tool");
  const server = params.get("server");
  const written = params.get("custom");
  if (params.has("new-server")) return <NewMcpServer />;
  if (params.has("services")) return <SearchServices />;
  if (params.has("bin")) return <CustomToolBin tools={custom.bin} />;
  if (params.has("new")) return <CustomToolEditor key="new" saved={null} isEnabled={custom.enabled} />;
  if (server !== null) {
    const found = servers.find(({ name }) => name === server);
    return found ? (
      <McpServer key={found.name} server={found} />
    ) : (
      <Missing what={`MCP server “${server}”`} />
    );
  }
  if (written !== null) {
    const found = custom.tools.find(({ definition }) => definition.name === written);
    return found ? (
      <CustomToolEditor
        key={`${found.definition.name} ${found.version}`}
        saved={found}
        isEnabled={custom.enabled}
      />
    ) : (
      <Missing what={`custom tool “${written}”`} />
    );
  }
  if (chosen !== null) {
    const tool = tools.tools.find(({ name }) => name === chosen);
    if (tool) return <ToolDetail tool={tool} />;
    const crew = tools.crew.find(({ name }) => name === chosen);
    return crew ? <CrewToolDetail tool={crew} /> : <Missing what={`tool “${chosen}”`} />;
  }
  return null;
}

function Missing({ what }: { what: string }) {
  return (
    <EmptyState isPage className="h-full justify-center" icon={<Wrench />} title={`No ${what}`}>
      It may have been deleted or renamed.
    </EmptyState>
  );
}

interface ToolListProps {
  tools: readonly ToolListed[];
  crew: readonly CrewToolListed[];
  custom: Answers["customTools"]["list"];
  servers: Answers["mcp"]["list"];
  /** The query string. */
  current: string;
}

/** The tools by source, with a search over names and descriptions. */
function ToolList({ tools, crew, custom, servers, current }: ToolListProps) {
  const router = useRouter();
  const from = (source: ToolListed["source"], param?: string) =>
    tools.filter((tool) => tool.source === source).map((tool) => toolRow(tool, param));
  return (
    <LibraryList
      title="Tools"
      noun={["tool", "tools"]}
      current={current}
      actions={
        <Menu
          align="end"
          trigger={<Button icon={<Plus aria-hidden="true" />}>New</Button>}
          items={[
            {
              label: "MCP server",
              hint: "Tools from another program over HTTP",
              icon: <Server />,
              onSelect: () => router.push("/tools?new-server=1"),
            },
            {
              label: "Custom tool",
              hint: "JavaScript that runs in a sandbox",
              icon: <Code />,
              onSelect: () => router.push("/tools?new=1"),
            },
          ]}
        />
      }
      groups={[
        { title: "Built-in", rows: from("builtin") },
        { title: "Custom", rows: from("custom", "custom") },
        { title: "Configured by admin", rows: from("operator") },
        ...servers.map((server) => ({
          title: `MCP server ${server.name}`,
          rows: [
            {
              ...placeRow("server", server.name, server.name, <Server className="size-4" />),
              line: describeServer(server),
              mark: server.state === "connected" || !server.is_enabled ? null : mark("Not connected"),
            },
            ...tools
              .filter(({ name }) => name.startsWith(`mcp:${server.name}/`))
              .map((tool) => toolRow(tool)),
          ],
        })),
        { title: "Crew tools", rows: crew.map((tool) => toolRow(tool)) },
        {
          title: "Set up",
          rows: [
            {
              ...placeRow("services", "1", "Search services", <Globe className="size-4" />),
              line: "Used by web_search and code_search",
            },
            ...(custom.bin.length > 0
              ? [
                  {
                    ...placeRow("bin", "1", "Trash", <Trash2 className="size-4" />),
                    line: `${countOf(custom.bin.length, "tool")} deleted`,
                  },
                ]
              : []),
          ],
        },
      ]}
    >
      {servers.length > 0 ? null : (
        <div className="mx-2 mt-3 rounded-lg border border-dashed border-line-strong p-3 text-[13px] text-ink-2">
          Add MCP servers to get tools for databases, issue trackers, calendars and more.
          <ButtonLink href="/tools?new-server=1" size="sm" className="mt-2">
            Add MCP server
          </ButtonLink>
        </div>
      )}
    </LibraryList>
  );
}

const addressOf = (param: string, value: string) => {
  const key = new URLSearchParams({ [param]: value }).toString();
  return { key, href: `/tools?${key}` };
};

const toolRow = (
  { name, description, unavailable }: { name: string; description: string; unavailable?: string },
  param = "tool",
): LibraryRow => ({
  ...addressOf(param, name),
  name: name.replace(/^mcp:[^/]+\//, ""),
  isMono: true,
  line: description,
  searched: `${name} ${description}`,
  mark: unavailable === undefined ? null : mark("Not available"),
});

/** A row for a part of the page other than a tool. */
const placeRow = (param: string, value: string, name: string, icon: LibraryRow["face"]) => ({
  ...addressOf(param, value),
  name,
  face: <span aria-hidden="true">{icon}</span>,
  searched: null,
});

const mark = (label: string) => (
  <span title={label} className="text-waiting">
    <Unplug aria-hidden="true" className="size-4" />
    <span className="sr-only">{label}</span>
  </span>
);

function describeServer(server: Answers["mcp"]["list"][number]): string {
  if (!server.is_enabled) return "Disabled";
  if (server.state === "needs_sign_in") return "Needs sign-in";
  const waiting = server.tools.filter(({ state }) => state === "new" || state === "changed").length;
  if (waiting > 0) return `${countOf(waiting, "tool")} awaiting approval`;
  return countOf(server.tools.length, "tool");
}
