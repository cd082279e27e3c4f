"use client";

import { useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { ChevronLeft, FileDown, FileUp, Plus, Search, UsersRound } from "lucide-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import { useSearchParams } from "next/navigation";
import { useState } from "react";
import { toApiError, useTrpc } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { IconButton } from "@/components/ui/icon-button";
import { Skeleton } from "@/components/ui/skeleton";
import { TextField } from "@/components/ui/text-field";
import { DropZone } from "@/components/workflows/drop-zone";
import { FindingList } from "@/components/workflows/finding-list";
import { newRole } from "./role-draft";
import { RoleEditor, type RoleListed } from "./role-editor";
import { RoleFace } from "./role-face";

const RoleImportDialog = dynamic(() => import("./role-import-dialog").then((m) => m.RoleImportDialog), {
  ssr: false,
});
const RoleExportDialog = dynamic(() => import("./role-export-dialog").then((m) => m.RoleExportDialog), {
  ssr: false,
});

/** All roles beside the form of one. On phones one after the other. */
export function RolesPage() {
  const params = useSearchParams();
  const asked = params.get("role");
  const isNew = params.has("new");
  const roles = useQuery(useTrpc().roles.list.queryOptions());
  const [importing, setImporting] = useState<{ text?: string } | null>(null);
  const [exporting, setExporting] = useState(false);

  if (!roles.data)
    return roles.error ? (
      <EmptyState
        className="h-full justify-center"
        title="The roles could not be loaded"
        actions={<Button onClick={() => void roles.refetch()}>Try again</Button>}
      >
        {toApiError(roles.error).message}
      </EmptyState>
    ) : (
      <Loading />
    );
  const all = roles.data;
  const chosen = all.find(({ role }) => role.name === asked);
  const isOpen = isNew || asked !== null;

  return (
    <div className="flex h-full min-h-0">
      <section
        aria-label="All roles"
        className={clsx(
          "flex min-h-0 w-full shrink-0 flex-col border-line md:w-76 md:border-r",
          isOpen && "max-md:hidden",
        )}
      >
        <RoleList
          roles={all}
          current={chosen?.role.name}
          onImport={() => setImporting({})}
          onExport={() => setExporting(true)}
        />
      </section>
      <div className={clsx("flex min-h-0 min-w-0 flex-1 flex-col", !isOpen && "max-md:hidden")}>
        {isOpen ? (
          <Link href="/roles" className="flex items-center gap-1 px-3 pt-3 text-[13px] text-ink-2 md:hidden">
            <ChevronLeft aria-hidden="true" className="size-4" /> All roles
          </Link>
        ) : null}
        {isNew ? (
          <RoleEditor
            key="new"
            saved={null}
            initial={newRole()}
            otherNames={all.map(({ role }) => role.name)}
          />
        ) : chosen ? (
          <RoleEditor
            key={chosen.role.name}
            saved={chosen}
            initial={chosen.role}
            otherNames={all.flatMap(({ role }) => (role.name === chosen.role.name ? [] : [role.name]))}
          />
        ) : (
          <EmptyState
            className="h-full justify-center"
            icon={<UsersRound />}
            title={asked ? `There is no role called “${asked}”` : "Choose a role"}
            actions={
              <ButtonLink href="/roles?new=1" icon={<Plus aria-hidden="true" />}>
                New role
              </ButtonLink>
            }
          >
            A role says what an agent is for: goals, responsibilities, and the prompt they make.
          </EmptyState>
        )}
      </div>
      <DropZone what="roles" onText={(text) => setImporting({ text })} />
      {importing ? (
        <RoleImportDialog key={importing.text} text={importing.text} onClose={() => setImporting(null)} />
      ) : null}
      {exporting ? (
        <RoleExportDialog names={all.map(({ role }) => role.name)} onClose={() => setExporting(false)} />
      ) : null}
    </div>
  );
}

function RoleList({
  roles,
  current,
  onImport,
  onExport,
}: {
  roles: readonly RoleListed[];
  current: string | undefined;
  onImport: () => void;
  onExport: () => void;
}) {
  const [search, setSearch] = useState("");
  const words = search.trim().toLowerCase().split(/\s+/);
  const found = roles.filter(({ role }) =>
    words.every((word) => `${role.name} ${role.description}`.toLowerCase().includes(word)),
  );
  return (
    <>
      <header className="flex flex-col gap-3 px-4 pt-6 pb-3">
        <div className="flex items-center gap-1">
          <h1 className="flex-1 font-serif text-[34px] leading-10 tracking-[-0.01em]">Roles</h1>
          <IconButton label="Import roles" icon={<FileDown aria-hidden="true" />} onClick={onImport} />
          <IconButton label="Export roles" icon={<FileUp aria-hidden="true" />} onClick={onExport} />
          <ButtonLink href="/roles?new=1" icon={<Plus aria-hidden="true" />} className="ml-1">
            New
          </ButtonLink>
        </div>
        <TextField
          label="Search roles"
          hideLabel
          type="search"
          placeholder="Search roles"
          icon={<Search aria-hidden="true" />}
          value={search}
          onValueChange={setSearch}
        />
      </header>
      <FolderFindings />
      {found.length > 0 ? (
        <ul aria-label="Roles" className="min-h-0 flex-1 overflow-y-auto px-2 pb-4">
          {found.map(({ role, used_by, origin }) => (
            <li key={role.name}>
              <Link
                href={`/roles?role=${encodeURIComponent(role.name)}`}
                aria-current={role.name === current ? "true" : undefined}
                className={clsx(
                  "flex items-center gap-3 rounded-lg px-2 py-2 transition-colors",
                  role.name === current ? "bg-ink/7" : "hover:bg-ink/3.5",
                )}
              >
                <RoleFace name={role.name} icon={role.icon} color={role.color} size={32} />
                <span className="min-w-0 flex-1">
                  <span className="flex items-center gap-2 font-medium">
                    <span className="truncate">{role.name}</span>
                    {origin ? <Badge>File</Badge> : null}
                  </span>
                  <span className="block truncate text-[13px] text-ink-2">
                    {role.description || "No description"}
                  </span>
                </span>
                {used_by.length > 0 ? (
                  <span
                    title={`Used by ${used_by.length} ${used_by.length === 1 ? "workflow" : "workflows"}`}
                    className="text-xs text-ink-3 tabular-nums"
                  >
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
        <EmptyState title={roles.length === 0 ? "No roles yet" : `No role matches “${search}”`}>
          {roles.length === 0 ? "Create one, or import some from a file." : null}
        </EmptyState>
      )}
    </>
  );
}

/** Says where files of the folder of roles could not be read as they stand. */
function FolderFindings() {
  const folder = useQuery(useTrpc().roles.folder.queryOptions()).data;
  const findings = folder?.findings.filter(({ level }) => level !== "info") ?? [];
  if (findings.length === 0) return null;
  const [count, verb] =
    findings.length === 1 ? ["One thing", "needs"] : [`${findings.length} things`, "need"];
  return (
    <details className="mx-4 mb-3 rounded-lg border border-waiting/35 bg-waiting/10 text-[13px]">
      <summary className="px-3 py-2">{`${count} in the folder of roles ${verb} a look`}</summary>
      <div className="max-h-72 overflow-y-auto border-t border-waiting/35 p-2">
        <FindingList findings={findings} label="Findings in the folder of roles" />
      </div>
    </details>
  );
}

function Loading() {
  return (
    <div aria-busy="true" className="flex w-full max-w-76 flex-col gap-3 p-4 pt-6">
      <span className="sr-only">Loading</span>
      <Skeleton className="h-10 w-32" />
      <Skeleton className="h-8 w-full" />
      {[1, 2, 3, 4, 5].map((row) => (
        <Skeleton key={row} className="h-12 w-full" />
      ))}
    </div>
  );
}
