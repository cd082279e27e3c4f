"use client";

import { useQuery } from "@tanstack/react-query";
import { FaceOfRole } from "@/components/display/role-face";
import { AddAgent, CrewForm } from "@/components/forms/crew/crew-form";
import { useTrpc } from "@/components/trpc";
import { Field } from "@/components/ui/input/field";
import { Picker } from "@/components/ui/input/picker";
import { CrewConfig } from "@/server/domain/crew/crew";
import { isCrewNode } from "@/server/domain/nodes";
import type { FieldProps } from "../field-props";
import { OpenInPlace } from "../fields/role-field";
import { useFormScope } from "../form-scope";
import { useCreate } from "../library-sheets";

const OWN = "(own)";

/** Switches between the node's own crew and a library crew. */
export function CrewRefField({ label, hint, error, value, onChange }: FieldProps) {
  const crews = useQuery(useTrpc().crews.list.queryOptions()).data;
  const ref = typeof value === "string" && value !== "" ? value : null;
  const create = useCreate("crew", onChange);
  if (ref === null && crews?.length === 0 && !create) return null;
  return (
    <Picker
      searchPlaceholder="Search crews…"
      create={create}
      label={label}
      hint={hint}
      error={error}
      options={[
        { value: OWN, label: "This workflow's crew" },
        ...(crews ?? []).map(({ id, name, crew }) => ({
          value: id,
          label: name,
          hint: crew.agents.map(({ role_name }) => role_name).join(", "),
        })),
        ...(ref !== null && crews && !crews.some(({ id }) => id === ref)
          ? [{ value: ref, label: ref, hint: "Not in the library" }]
          : []),
      ]}
      value={ref ?? OWN}
      onValueChange={(next) => onChange(next === OWN ? undefined : next)}
    />
  );
}

/** The members of the crew and its process. */
export function CrewField(props: FieldProps) {
  const { node } = useFormScope();
  const { crew_id_or_config_ref: ref, crew } = isCrewNode(node) ? node.config : NO_CREW;
  return ref ? <LibraryCrew {...props} id={ref} own={crew} /> : <OwnCrew {...props} crew={crew} />;
}

const NO_CREW = { crew_id_or_config_ref: undefined, crew: undefined };

function OwnCrew({ label, hint, error, crew, onChange }: FieldProps & { crew: CrewConfig | undefined }) {
  const { roles } = useFormScope();
  return (
    <Field label={label} hideLabel={crew !== undefined} hint={hint} error={crew ? undefined : error} group>
      {crew ? (
        <CrewForm
          crew={crew}
          roles={roles}
          error={error}
          onChange={onChange}
          onEmpty={() => onChange(undefined)}
        />
      ) : (
        <AddAgent
          roles={roles}
          others={[]}
          onAdd={(agent) => onChange(CrewConfig.parse({ agents: [agent] }))}
        />
      )}
    </Field>
  );
}

/** A read-only summary of a library crew. */
function LibraryCrew({ id, label, error, own }: FieldProps & { id: string; own: CrewConfig | undefined }) {
  const { roles } = useFormScope();
  const crews = useQuery(useTrpc().crews.list.queryOptions()).data;
  const found = crews?.find((crew) => crew.id === id)?.crew;
  const crew = found ?? own;
  if (!crews) return null;
  return (
    <Field
      label={label}
      error={error}
      hint={
        found
          ? "Each run uses a copy taken when it starts"
          : crew
            ? "Not in the library. Runs use the copy in this workflow."
            : undefined
      }
      group
    >
      {crew ? (
        <ul aria-label="Agents" className="divide-y divide-line rounded-lg border border-line bg-bg">
          {crew.agents.map(({ agent_id, role_name }) => (
            <li key={agent_id} className="flex h-10 items-center gap-2 px-2.5 text-sm">
              <FaceOfRole roles={roles} name={role_name} size={22} />
              <span className="min-w-0 flex-1 truncate font-medium">{role_name}</span>
              <code className="truncate font-mono text-xs text-ink-3">{agent_id}</code>
            </li>
          ))}
        </ul>
      ) : (
        <p className="text-[13px] text-failed">Crew “{id}” isn't in the library. Choose another.</p>
      )}
      {found ? <OpenInPlace kind="crew" id={id} /> : null}
    </Field>
  );
}
