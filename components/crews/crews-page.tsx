"use client";

import { useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { FileDown, FileUp, Network, Plus } from "lucide-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import { useSearchParams } from "next/navigation";
import { useState } from "react";
import { RoleFace } from "@/components/roles/role-face";
import { SplitPage } from "@/components/shell/split-page";
import { type Answers, toApiError, useTrpc, useTrpcClient } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { IconButton } from "@/components/ui/icon-button";
import { Menu } from "@/components/ui/menu";
import { Skeleton } from "@/components/ui/skeleton";
import { downloadText } from "@/components/workflows/download";
import { DropZone } from "@/components/workflows/drop-zone";

const loading = () => (
  <div aria-busy="true" className="p-6">
    <Skeleton className="h-40 w-full max-w-2xl" />
  </div>
);
const CrewEditor = dynamic(() => import("./crew-editor").then((m) => m.CrewEditor), { ssr: false, loading });
const CrewImportDialog = dynamic(() => import("./crew-import-dialog").then((m) => m.CrewImportDialog), {
  ssr: false,
});

export type CrewListed = Answers["crews"]["list"][number];

/** All crews of the library beside the form of one. */
export function CrewsPage() {
  const params = useSearchParams();
  const trpc = useTrpc();
  const client = useTrpcClient();
  const crews = useQuery(trpc.crews.list.queryOptions());
  const roles = useQuery(trpc.roles.list.queryOptions());
  const [importing, setImporting] = useState<{ text?: string } | null>(null);
  const asked = params.get("crew");
  const isNew = params.has("new");
  const error = crews.error ?? roles.error;
  if (!crews.data || !roles.data)
    return error ? (
      <EmptyState
        className="h-full justify-center"
        title="The crews could not be loaded"
        actions={
          <Button
            onClick={() => {
              void crews.refetch();
              void roles.refetch();
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
  const all = crews.data;
  const allRoles = roles.data.map(({ role }) => role);
  const chosen = all.find(({ id }) => id === asked);
  const exportAll = async (format: "yaml" | "json") => {
    const { file_name, text } = await client.crews.export.query({ format });
    downloadText(file_name, text);
  };
  const list = (
    <>
      <header className="flex items-center gap-1 px-4 pt-6 pb-3">
        <h1 className="flex-1 font-serif text-[34px] leading-10 tracking-[-0.01em]">Crews</h1>
        <IconButton
          label="Import crews"
          icon={<FileDown aria-hidden="true" />}
          onClick={() => setImporting({})}
        />
        {all.length > 0 ? (
          <Menu
            align="end"
            trigger={<IconButton plain label="Export all crews" icon={<FileUp aria-hidden="true" />} />}
            items={[
              { label: "As YAML", onSelect: () => void exportAll("yaml") },
              { label: "As JSON", onSelect: () => void exportAll("json") },
            ]}
          />
        ) : null}
        <ButtonLink href="/crews?new=1" icon={<Plus aria-hidden="true" />} className="ml-1">
          New
        </ButtonLink>
      </header>
      {all.length > 0 ? (
        <ul aria-label="Crews" className="min-h-0 flex-1 overflow-y-auto px-2 pb-4">
          {all.map(({ id, name, crew, used_by }) => (
            <li key={id}>
              <Link
                href={`/crews?crew=${encodeURIComponent(id)}`}
                aria-current={id === asked ? "true" : undefined}
                className={clsx(
                  "flex items-center gap-3 rounded-lg px-2 py-2 transition-colors",
                  id === asked ? "bg-ink/7" : "hover:bg-ink/3.5",
                )}
              >
                <span className="flex shrink-0 -space-x-2">
                  {crew.agents.slice(0, 3).map(({ agent_id, role_name }) => {
                    const role = allRoles.find((known) => known.name === role_name);
                    return (
                      <RoleFace
                        key={agent_id}
                        name={role_name}
                        icon={role?.icon}
                        color={role?.color}
                        size={26}
                      />
                    );
                  })}
                </span>
                <span className="min-w-0 flex-1">
                  <span className="block truncate font-medium">{name}</span>
                  <span className="block truncate text-[13px] text-ink-2">
                    {crew.agents.map(({ role_name }) => role_name).join(", ")}
                  </span>
                </span>
                {used_by.length > 0 ? (
                  <span className="text-xs text-ink-3 tabular-nums">
                    <span className="sr-only">Used by </span>
                    {used_by.length}
                    <span className="sr-only">{used_by.length === 1 ? " workflow" : " workflows"}</span>
                  </span>
                ) : null}
              </Link>
            </li>
          ))}
        </ul>
      ) : (
        <EmptyState
          icon={<Network />}
          title="No crews yet"
          actions={
            <ButtonLink href="/crews?new=1" icon={<Plus aria-hidden="true" />} className="md:hidden">
              New crew
            </ButtonLink>
          }
        >
          A crew is several agents and the way in which they work together. Kept here, many workflows can use
          it.
        </EmptyState>
      )}
    </>
  );
  return (
    <SplitPage label="All crews" href="/crews" list={list} isOpen={isNew || asked !== null}>
      {isNew ? (
        <CrewEditor key="new" saved={null} roles={allRoles} />
      ) : chosen ? (
        <CrewEditor key={`${chosen.id} ${chosen.revision}`} saved={chosen} roles={allRoles} />
      ) : (
        <EmptyState
          className="h-full justify-center"
          icon={<Network />}
          title={
            asked ? `There is no crew “${asked}”` : all.length > 0 ? "Choose a crew" : "Make the first crew"
          }
          actions={
            <ButtonLink href="/crews?new=1" icon={<Plus aria-hidden="true" />}>
              New crew
            </ButtonLink>
          }
        >
          Workflows that name a crew take a copy of it whenever a run starts.
        </EmptyState>
      )}
      <DropZone what="crews" onText={(text) => setImporting({ text })} />
      {importing ? (
        <CrewImportDialog key={importing.text} text={importing.text} onClose={() => setImporting(null)} />
      ) : null}
    </SplitPage>
  );
}
