"use client";

import Link from "next/link";
import { RoleFace } from "@/components/display/role-face";
import { Select } from "@/components/ui/select";
import type { FieldProps } from "./field-props";
import { useFormScope } from "./form-scope";

/** Which role does it, with what that role is for. */
export function RoleField({ label, hint, error, value, onChange, hideLabel }: FieldProps) {
  const { roles } = useFormScope();
  const name = typeof value === "string" ? value : "";
  const role = roles.find((known) => known.name === name);
  const options = [
    ...roles.map(({ name, description, color, icon }) => ({
      value: name,
      label: name,
      hint: firstSentence(description),
      icon: <RoleFace name={name} icon={icon} color={color} size={20} />,
    })),
    ...(name && !role ? [{ value: name, label: name, hint: "There is no such role" }] : []),
  ];
  return (
    <div className="flex flex-col gap-2">
      <Select
        label={label}
        {...(hideLabel ? { hideLabel } : {})}
        hint={hint}
        error={error}
        options={options}
        value={name || null}
        onValueChange={onChange}
        placeholder="Choose a role…"
        aside={
          <Link
            href="/roles?new=1"
            target="_blank"
            className="text-ink-2 underline-offset-2 hover:text-accent hover:underline"
          >
            New role
          </Link>
        }
      />
      {role && !hideLabel && (
        <div className="rounded-lg bg-sunken px-3 py-2 text-[13px] text-ink-2">
          <p>{role.description || "This role has no description yet."}</p>
          {role.goals.length > 0 && (
            <p className="mt-1 text-ink-3">Goals: {role.goals.slice(0, 3).join("; ")}</p>
          )}
          <Link
            href={`/roles?role=${encodeURIComponent(role.name)}`}
            target="_blank"
            className="mt-1 inline-block text-ink-2 underline underline-offset-2 hover:text-accent"
          >
            Open the role
          </Link>
        </div>
      )}
    </div>
  );
}

const firstSentence = (text: string) => /^.{1,90}?(?=[.!?]\s|$)|^.{1,90}/s.exec(text)?.[0] ?? "";
