"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ImportMany, toastImported } from "@/components/import-export/import-many";
import { InFileBadge, type InFileState } from "@/components/import-export/in-file-badge";
import { type Answers, toApiError, useTrpc } from "@/components/trpc";

/** Imports crews and agents from a YAML or JSON text; shows what is in it before anything is saved. */
export function CrewImportDialog({ text, onClose }: { text?: string | undefined; onClose: () => void }) {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const { mutate: read, ...preview } = useMutation(
    trpc.crews.previewImport.mutationOptions({ onError: () => {} }),
  );
  const load = useMutation(
    trpc.crews.import.mutationOptions({
      onSuccess: (done) => {
        for (const list of [trpc.crews, trpc.agents, trpc.roles])
          void queryClient.invalidateQueries(list.pathFilter());
        onClose();
        toastImported(done);
      },
    }),
  );
  const found = preview.data;
  const newRoles = found?.roles.filter(({ state }) => state === "new") ?? [];
  return (
    <ImportMany
      noun={nounOf(found)}
      description="Crews and agents, one or many, as YAML or JSON; Roboco’s team files, too."
      placeholder={"crew_id: writers\nagents:\n  - role: Writer\n  - role: Editor"}
      text={text}
      found={
        found && {
          states: [...found.crews, ...found.agents].map(({ state }) => state),
          findings: found.findings,
        }
      }
      read={read}
      isReading={preview.isPending}
      error={preview.error ? toApiError(preview.error).message : undefined}
      onReset={preview.reset}
      rolesThatCome={() => newRoles}
      isLoading={load.isPending}
      load={load.mutate}
      onClose={onClose}
      note={
        newRoles.length > 0 ? (
          <p className="text-[13px] text-ink-2">
            {newRoles.length === 1 ? "This role comes along: " : "These roles come along: "}
            {newRoles.map(({ role }) => role.name).join(", ")}. Roles that you have stay as they are.
          </p>
        ) : null
      }
    >
      <InFile
        label="Crews in the file"
        rows={(found?.crews ?? []).map(({ crew, state }) => ({
          id: crew.crew_id,
          line: crew.agents.map(({ role_name }) => role_name).join(", "),
          state,
        }))}
      />
      <InFile
        label="Agents in the file"
        rows={(found?.agents ?? []).map(({ agent, state }) => ({
          id: agent.agent_id,
          line: agent.role_name,
          state,
        }))}
      />
    </ImportMany>
  );
}

function InFile({
  label,
  rows,
}: {
  label: string;
  rows: readonly { id: string; line: string; state: InFileState }[];
}) {
  if (rows.length === 0) return null;
  return (
    <ul aria-label={label} className="divide-y divide-line rounded-lg border border-line">
      {rows.map(({ id, line, state }) => (
        <li key={id} className="flex items-center gap-3 px-3 py-2">
          <span className="min-w-0 flex-1">
            <span className="block truncate font-mono text-[13px] font-medium">{id}</span>
            <span className="block truncate text-[13px] text-ink-2">{line}</span>
          </span>
          <InFileBadge state={state} />
        </li>
      ))}
    </ul>
  );
}

/** What a file holds, in one word and in its plural. */
function nounOf(found: Answers["crews"]["previewImport"] | undefined): [one: string, many: string] {
  if (found && found.crews.length === 0 && found.agents.length > 0) return ["agent", "agents"];
  return found && found.agents.length === 0 ? ["crew", "crews"] : ["crew or agent", "crews and agents"];
}
