"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ImportMany, toastImported } from "@/components/import-export/import-many";
import { RolesInFile } from "@/components/import-export/roles-in-file";
import { toApiError, useTrpc } from "@/components/trpc";

/** Imports roles from a YAML or JSON text; shows what is in it before anything is saved. */
export function RoleImportDialog({ text, onClose }: { text?: string | undefined; onClose: () => void }) {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const { mutate: read, ...preview } = useMutation(
    trpc.roles.previewImport.mutationOptions({ onError: () => {} }),
  );
  const load = useMutation(
    trpc.roles.import.mutationOptions({
      onSuccess: (done) => {
        void queryClient.invalidateQueries(trpc.roles.list.queryFilter());
        onClose();
        toastImported(done);
      },
    }),
  );
  const found = preview.data;
  return (
    <ImportMany
      noun={["role", "roles"]}
      description="One role or many, as YAML or JSON."
      placeholder={"name: Writer\ngoals:\n  - Clear text"}
      text={text}
      found={found && { states: found.roles.map(({ state }) => state), findings: found.findings }}
      read={read}
      isReading={preview.isPending}
      error={preview.error ? toApiError(preview.error).message : undefined}
      onReset={preview.reset}
      rolesThatCome={(existing) =>
        found?.roles.filter(({ state }) => state === "new" || existing === "replace") ?? []
      }
      isLoading={load.isPending}
      load={load.mutate}
      onClose={onClose}
    >
      {found ? <RolesInFile roles={found.roles} /> : null}
    </ImportMany>
  );
}
