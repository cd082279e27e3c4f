"use client";

import { useQuery } from "@tanstack/react-query";
import { Wrench } from "lucide-react";
import dynamic from "next/dynamic";
import { useSearchParams } from "next/navigation";
import { SplitPage } from "@/components/page/split-page";
import { toApiError, useTrpc } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Skeleton } from "@/components/ui/skeleton";
import { CrewToolDetail, ToolDetail } from "./tool-detail";
import { ToolList } from "./tool-list";

const loading = () => (
  <div aria-busy="true" className="p-6">
    <Skeleton className="h-40 w-full max-w-3xl" />
  </div>
);
const McpServer = dynamic(() => import("./mcp-server").then((m) => m.McpServer), { ssr: false, loading });
const NewMcpServer = dynamic(() => import("./mcp-form").then((m) => m.NewMcpServer), { ssr: false, loading });
const CustomToolEditor = dynamic(() => import("./custom-tool-editor").then((m) => m.CustomToolEditor), {
  ssr: false,
  loading,
});
const CustomToolBin = dynamic(() => import("./custom-tool-bin").then((m) => m.CustomToolBin), {
  ssr: false,
  loading,
});
const SearchServices = dynamic(() => import("./search-services").then((m) => m.SearchServices), {
  ssr: false,
  loading,
});

/** All tools beside one of them, a server, a search service or a tool that is being written. */
export function ToolsPage() {
  const params = useSearchParams();
  const trpc = useTrpc();
  const tools = useQuery(trpc.tools.list.queryOptions());
  const custom = useQuery(trpc.customTools.list.queryOptions());
  const servers = useQuery(trpc.mcp.list.queryOptions());
  const error = tools.error ?? custom.error ?? servers.error;
  if (!tools.data || !custom.data || !servers.data)
    return error ? (
      <EmptyState
        className="h-full justify-center"
        isPage
        title="The tools could not be loaded"
        actions={
          <Button
            onClick={() => {
              for (const query of [tools, custom, servers]) void query.refetch();
            }}
          >
            Try again
          </Button>
        }
      >
        {toApiError(error).message}
      </EmptyState>
    ) : (
      loading()
    );

  const chosen = params.get("tool");
  const server = params.get("server");
  const written = params.get("custom");
  const view = (() => {
    if (params.has("new-server")) return <NewMcpServer />;
    if (params.has("services")) return <SearchServices />;
    if (params.has("bin")) return <CustomToolBin tools={custom.data.bin} />;
    if (params.has("new")) return <CustomToolEditor key="new" saved={null} isEnabled={custom.data.enabled} />;
    if (server !== null) {
      const found = servers.data.find(({ name }) => name === server);
      return found ? (
        <McpServer key={found.name} server={found} />
      ) : (
        <Missing what={`MCP server called “${server}”`} />
      );
    }
    if (written !== null) {
      const found = custom.data.tools.find(({ definition }) => definition.name === written);
      return found ? (
        <CustomToolEditor
          key={`${found.definition.name} ${found.version}`}
          saved={found}
          isEnabled={custom.data.enabled}
        />
      ) : (
        <Missing what={`tool of your own called “${written}”`} />
      );
    }
    if (chosen !== null) {
      const tool = tools.data.tools.find(({ name }) => name === chosen);
      if (tool) return <ToolDetail tool={tool} />;
      const crew = tools.data.crew.find(({ name }) => name === chosen);
      return crew ? <CrewToolDetail tool={crew} /> : <Missing what={`tool called “${chosen}”`} />;
    }
    return null;
  })();
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
          title="Choose a tool, or add one"
          actions={
            <>
              <ButtonLink href="/tools?new-server=1">Connect an MCP server</ButtonLink>
              <ButtonLink href="/tools?new=1">Write a tool</ButtonLink>
              <ButtonLink href="/tools?services=1">Set up web search</ButtonLink>
            </>
          }
        >
          With tools, agents act: they search, read pages, write files, call services. Each agent has only the
          tools that its role names.
        </EmptyState>
      )}
    </SplitPage>
  );
}

function Missing({ what }: { what: string }) {
  return (
    <EmptyState isPage className="h-full justify-center" icon={<Wrench />} title={`There is no ${what}`}>
      It may have been removed, or renamed.
    </EmptyState>
  );
}
