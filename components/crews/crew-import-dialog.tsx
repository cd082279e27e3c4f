"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { toApiError, useTrpc } from "@/components/trpc";
import { ImportMany, InFileBadge, toastImported } from "@/components/workflows/import-many";

/** Imports crews from a YAML or JSON text; shows what is in it before anything is saved. */
export function CrewImportDialog({ text, onClose }: { text?: string | undefined; onClose: () => void }) {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const { mutate: read, ...preview } = useMutation(
    trpc.crews.previewImport.mutationOptions({ onError: () => {} }),
  );
  const load = useMutation(
    trpc.crews.import.mutationOptions({
      onSuccess: (done) => {
        void queryClient.invalidateQueries(trpc.crews.pathFilter());
        void queryClient.invalidateQueries(trpc.roles.pathFilter());
        onClose();
        toastImported(done);
      },
    }),
  );
  const found = preview.data;
  const newRoles = found?.roles.filter(({ state }) => state === "new").map(({ role }) => role.name) ?? [];
  return (
    <ImportMany
      noun={["crew", "crews"]}
      description="One crew or many, as YAML or JSON; Roboco’s team files, too."
      placeholder={"crew_id: writers\nagents:\n  - role: Writer\n  - role: Editor"}
      text={text}
      found={found && { states: found.crews.map(({ state }) => state), findings: found.findings }}
      read={read}
      isReading={preview.isPending}
      error={preview.error ? toApiError(preview.error).message : undefined}
      onReset={preview.reset}
      isLoading={load.isPending}
      load={load.mutate}
      onClose={onClose}
      note={
        newRoles.length > 0 ? (
          <p className="text-[13px] text-ink-2">
            {newRoles.length === 1 ? "This role comes along: " : "These roles come along: "}
            {newRoles.join(", ")}. Roles that you have stay as they are.
          </p>
        ) : null
      }
    >
      <ul aria-label="Crews in the file" className="divide-y divide-line rounded-lg border border-line">
        {found?.crews.map(({ crew, state }) => (
          <li key={crew.crew_id} className="flex items-center gap-3 px-3 py-2">
            <span className="min-w-0 flex-1">
              <span className="block truncate font-mono text-[13px] font-medium">{crew.crew_id}</span>
              <span className="block truncate text-[13px] text-ink-2">
                {crew.agents.map(({ role_name }) => role_name).join(", ")}
              </span>
            </span>
            <InFileBadge state={state} />
          </li>
        ))}
      </ul>
    </ImportMany>
  );
}
