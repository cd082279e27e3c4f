"use client";

import { RoleFace } from "@/components/display/role-face";
import { InFileBadge, type InFileState } from "@/components/import-export/in-file-badge";
import type { RoleDefinition } from "@/server/domain/agent/role";

export interface RoleInFile {
  role: RoleDefinition;
  /** How it stands to the role of the same name here. */
  state: InFileState;
  /** The tools that it names and that the role here does not have. */
  asks: readonly string[];
  /** When it asks people, by the file and as it would be here; null where the file says nothing of it. */
  confirmation: { file: string; here: string } | null;
}

/** The roles that a file brings, before anything is saved. */
export function RolesInFile({ roles }: { roles: readonly RoleInFile[] }) {
  return (
    <ul aria-label="Roles in the file" className="divide-y divide-line rounded-lg border border-line">
      {roles.map(({ role, state, confirmation }) => (
        <li key={role.name} className="flex items-center gap-3 px-3 py-2">
          <RoleFace name={role.name} icon={role.icon} color={role.color} size={28} />
          <span className="min-w-0 flex-1">
            <span className="block truncate font-medium">{role.name}</span>
            <span className="block truncate text-[13px] text-ink-2">{role.description}</span>
            {confirmation ? (
              <span className="block text-[13px] text-ink-2 [overflow-wrap:anywhere]">
                {confirmation.file === confirmation.here
                  ? `Asks people ${confirmation.here}.`
                  : `The file says: asks people ${confirmation.file}. Here it asks ${confirmation.here}.`}
              </span>
            ) : null}
          </span>
          <InFileBadge state={state} />
        </li>
      ))}
    </ul>
  );
}
