"use client";

import { useQuery } from "@tanstack/react-query";
import { FileDown, FileUp, UsersRound } from "lucide-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import { countOf } from "@/components/display/format";
import { RoleFace } from "@/components/display/role-face";
import { FindingList } from "@/components/import-export/finding-list";
import { ImportDoor, useImporting } from "@/components/import-export/import-door";
import { LibraryPage } from "@/components/library/library-page";
import { type Answers, useTrpc } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { IconButton } from "@/components/ui/icon-button";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import { RoleEditor } from "./role-editor";

const RoleExportDialog = dynamic(() => import("./role-export-dialog").then((m) => m.RoleExportDialog), {
  ssr: false,
});

/** The roles next to the form of the open one. */
export function RolesPage() {
  const roles = useQuery(useTrpc().roles.list.queryOptions());
  const importing = useImporting();
  const names = roles.data?.map(({ role }) => role.name) ?? [];
  const exporting = useDialog((close) => <RoleExportDialog names={names} onClose={close} />);
  return (
    <LibraryPage
      title="Roles"
      noun={["role", "roles"]}
      icon={<UsersRound />}
      queries={[roles]}
      all={roles.data}
      keyOf={({ role }) => role.name}
      rowOf={({ role, used_by, origin }) => ({
        face: <RoleFace name={role.name} icon={role.icon} color={role.color} size={32} />,
        name: role.name,
        line: role.description || "No description",
        badge: origin ? <Badge>File</Badge> : null,
        uses: used_by,
      })}
      actions={
        <>
          <IconButton
            label="Import roles"
            icon={<FileDown aria-hidden="true" />}
            onClick={() => importing.open()}
          />
          <IconButton label="Export roles" icon={<FileUp aria-hidden="true" />} onClick={exporting.open} />
        </>
      }
      notice={<FolderFindings />}
      about="Create a role, or import roles from a file."
      choose="A role defines an agent's goals, responsibilities and prompt."
      starters={<Featured roles={roles.data ?? []} />}
      editor={(chosen) => <RoleEditor key={chosen?.role.name ?? "(new)"} saved={chosen} />}
    >
      <ImportDoor
        importing={importing}
        what="roles"
        title="Import roles"
        placeholder={"name: Writer\ngoals:\n  - Clear text"}
      />
      {exporting.dialog}
    </LibraryPage>
  );
}

/** Some roles with their purpose, shown while none is selected. */
function Featured({ roles }: { roles: Answers["roles"]["list"] }) {
  return (
    <ul aria-label="Featured roles" className="grid w-full max-w-3xl gap-3 sm:grid-cols-2">
      {roles.slice(0, 6).map(({ role }) => (
        <li key={role.name}>
          <Link
            href={`/roles?role=${encodeURIComponent(role.name)}`}
            aria-label={`Open ${role.name}`}
            className="flex h-full gap-3 rounded-xl border border-line bg-surface p-3.5 hover:border-line-strong"
          >
            <RoleFace name={role.name} icon={role.icon} color={role.color} size={32} />
            <span className="min-w-0">
              <span className="block font-medium">{role.name}</span>
              <span className="line-clamp-2 text-[13px] text-ink-2">{role.description}</span>
              <span className="text-xs text-ink-3">
                {countOf(role.responsibilities.length, "responsibility", "responsibilities")},{" "}
                {countOf(role.tools.length, "tool")}
              </span>
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** Findings from the role files. */
function FolderFindings() {
  const folder = useQuery(useTrpc().roles.folder.queryOptions()).data;
  const findings = folder?.findings.filter(({ level }) => level !== "info") ?? [];
  if (findings.length === 0) return null;
  const [count, verb] = findings.length === 1 ? ["1 issue", "needs"] : [`${findings.length} issues`, "need"];
  return (
    <details className="mx-4 mb-3 rounded-lg border border-waiting/35 bg-waiting/10 text-[13px]">
      <summary className="px-3 py-2">{`${count} in the roles folder ${verb} attention`}</summary>
      <div className="max-h-72 overflow-y-auto border-t border-waiting/35 p-2">
        <FindingList findings={findings} label="Roles folder findings" />
      </div>
    </details>
  );
}
