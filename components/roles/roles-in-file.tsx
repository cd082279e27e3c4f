"use client";

import { InFileBadge, type InFileState } from "@/components/workflows/import-many";
import type { RoleDefinition } from "@/server/domain/role";
import { RoleFace } from "./role-face";

export interface RoleInFile {
  role: RoleDefinition;
  /** How it stands to the role of the same name here. */
  state: InFileState;
  /** The tools that it names and that the role here does not have. */
  asks: readonly string[];
}

/** The roles that a file brings, before anything is saved. */
export function RolesInFile({ roles }: { roles: readonly RoleInFile[] }) {
  return (
    <ul aria-label="Roles in the file" className="divide-y divide-line rounded-lg border border-line">
      {roles.map(({ role, state }) => (
        <li key={role.name} className="flex items-center gap-3 px-3 py-2">
          <RoleFace name={role.name} icon={role.icon} color={role.color} size={28} />
          <span className="min-w-0 flex-1">
            <span className="block truncate font-medium">{role.name}</span>
            <span className="block truncate text-[13px] text-ink-2">{role.description}</span>
          </span>
          <InFileBadge state={state} />
        </li>
      ))}
    </ul>
  );
}
