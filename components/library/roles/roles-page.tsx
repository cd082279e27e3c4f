"use client";

import { useQuery } from "@tanstack/react-query";
import { FileDown, FileUp, Plus, UsersRound } from "lucide-react";
import dynamic from "next/dynamic";
import { useSearchParams } from "next/navigation";
import { useState } from "react";
import { RoleFace } from "@/components/display/role-face";
import { DropZone } from "@/components/import-export/drop-zone";
import { FindingList } from "@/components/import-export/finding-list";
import { LibraryList } from "@/components/library/library-list";
import { SplitPage } from "@/components/page/split-page";
import { toApiError, useTrpc } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { IconButton } from "@/components/ui/icon-button";
import { Skeleton } from "@/components/ui/skeleton";
import { newRole } from "./role-draft";
import { RoleEditor } from "./role-editor";

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

  const list = (
    <LibraryList
      title="Roles"
      noun={["role", "roles"]}
      current={chosen?.role.name}
      rows={all.map(({ role, used_by, origin }) => ({
        key: role.name,
        href: `/roles?role=${encodeURIComponent(role.name)}`,
        face: <RoleFace name={role.name} icon={role.icon} color={role.color} size={32} />,
        name: role.name,
        line: role.description || "No description",
        badge: origin ? <Badge>File</Badge> : null,
        uses: used_by,
      }))}
      actions={
        <>
          <IconButton
            label="Import roles"
            icon={<FileDown aria-hidden="true" />}
            onClick={() => setImporting({})}
          />
          <IconButton
            label="Export roles"
            icon={<FileUp aria-hidden="true" />}
            onClick={() => setExporting(true)}
          />
          <ButtonLink href="/roles?new=1" icon={<Plus aria-hidden="true" />} className="ml-1">
            New
          </ButtonLink>
        </>
      }
      notice={<FolderFindings />}
      empty={<EmptyState title="No roles yet">Create one, or import some from a file.</EmptyState>}
    />
  );

  return (
    <SplitPage label="All roles" href="/roles" list={list} isOpen={isNew || asked !== null}>
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
      <DropZone what="roles" onText={(text) => setImporting({ text })} />
      {importing ? (
        <RoleImportDialog
          key={importing.text ?? "new"}
          text={importing.text}
          onClose={() => setImporting(null)}
        />
      ) : null}
      {exporting ? (
        <RoleExportDialog names={all.map(({ role }) => role.name)} onClose={() => setExporting(false)} />
      ) : null}
    </SplitPage>
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
