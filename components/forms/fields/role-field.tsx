"use client";

import { RoleFace } from "@/components/display/role-face";
import { Picker } from "@/components/ui/input/picker";
import type { RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import type { FieldProps } from "../field-props";
import { useFormScope } from "../form-scope";
import { useCreate, useLibrarySheets } from "../library-sheets";

/** The part of a role that lists show. */
export type Faces = readonly (Pick<RoleDefinition, "name" | "color" | "icon"> &
  Partial<Pick<RoleDefinition, "description">>)[];

/** Picks a role, and shows its purpose. */
export function RoleField({ label, hint, error, value, onChange, hideLabel }: FieldProps) {
  const { roles } = useFormScope();
  const name = typeof value === "string" ? value : "";
  const role = roles.find((known) => known.name === name);
  return (
    <div className="flex flex-col gap-2">
      <RolePicker
        label={label}
        hideLabel={hideLabel}
        hint={hint}
        error={error}
        roles={roles}
        value={name}
        onChange={onChange}
      />
      {role && !hideLabel && (
        <div className="rounded-lg bg-sunken px-3 py-2 text-[13px] text-ink-2">
          <p>{role.description || "This role has no description yet."}</p>
          {role.goals.length > 0 && (
            <p className="mt-1 text-ink-3">Goals: {role.goals.slice(0, 3).join("; ")}</p>
          )}
          <OpenInPlace kind="role" id={role.name} onSaved={onChange} />
        </div>
      )}
    </div>
  );
}

export interface RolePickerProps {
  label: string;
  hideLabel?: boolean | undefined;
  hint?: string | undefined;
  error?: string | undefined;
  roles: Faces;
  value: string;
  onChange: (name: string) => void;
}

/** Picks a role, or creates one in place. */
export function RolePicker({ roles, value, onChange, ...labelProps }: RolePickerProps) {
  const create = useCreate("role", onChange);
  return (
    <Picker
      {...labelProps}
      options={roleOptions(roles, value)}
      value={value || null}
      onValueChange={onChange}
      placeholder="Choose a role…"
      searchPlaceholder="Search roles…"
      create={create}
    />
  );
}

/** Roles as options, including the current one if it no longer exists. */
export function roleOptions(roles: Faces, current: string) {
  const known = roles.map(({ name, color, icon, description }) => ({
    value: name,
    label: name,
    hint: description || undefined,
    icon: <RoleFace name={name} icon={icon} color={color} size={20} />,
  }));
  return current && !roles.some(({ name }) => name === current)
    ? [...known, { value: current, label: current, hint: "Role not found", icon: undefined }]
    : known;
}

/** Opens a library item in a sheet over the form. */
export function OpenInPlace({
  kind,
  id,
  onSaved,
}: {
  kind: "role" | "agent" | "crew";
  id: string;
  onSaved?: (id: string) => void;
}) {
  const open = useLibrarySheets();
  if (!open) return null;
  return (
    <button
      type="button"
      onClick={() => open(defined({ kind, id, onSaved }))}
      className="mt-1 inline-block self-start text-[13px] text-ink-2 underline underline-offset-2 hover:text-accent"
    >
      Edit {kind}
    </button>
  );
}
