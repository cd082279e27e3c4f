"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { toApiError, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { SegmentedControl } from "@/components/ui/segmented-control";
import { toast } from "@/components/ui/toasts";
import { FileSource } from "@/components/workflows/file-source";
import { FindingList } from "@/components/workflows/finding-list";
import { RolesInFile } from "./roles-in-file";

/** Imports roles from a YAML or JSON text; shows what is in it before anything is saved. */
export function RoleImportDialog({ text: given, onClose }: { text?: string; onClose: () => void }) {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const [text, setText] = useState("");
  const [existing, setExisting] = useState<"skip" | "replace">("skip");
  const { mutate: read, ...preview } = useMutation(
    trpc.roles.previewImport.mutationOptions({ onError: () => {} }),
  );
  useEffect(() => {
    if (given !== undefined) read({ text: given });
  }, [given, read]);
  const load = useMutation(
    trpc.roles.import.mutationOptions({
      onSuccess: ({ created, replaced, skipped }) => {
        void queryClient.invalidateQueries(trpc.roles.list.queryFilter());
        onClose();
        toast(`${created.length} added, ${replaced.length} replaced, ${skipped.length} left as they were`, {
          tone: "success",
        });
      },
    }),
  );
  const found = preview.data;
  const differing = found?.roles.filter(({ state }) => state === "differs").length ?? 0;
  const fresh = found?.roles.filter(({ state }) => state === "new").length ?? 0;
  const willChange = fresh + (existing === "replace" ? differing : 0);

  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="lg"
      title="Import roles"
      description={found ? "Nothing is saved yet." : "One role or many, as YAML or JSON."}
      footer={
        found ? (
          <>
            <Button onClick={() => (given === undefined ? preview.reset() : onClose())}>
              {given === undefined ? "Back" : "Cancel"}
            </Button>
            <Button
              variant="primary"
              disabled={willChange === 0}
              pending={load.isPending}
              onClick={() => load.mutate({ text: given ?? text, existing })}
            >
              {willChange === 0
                ? "Nothing to import"
                : `Import ${willChange} ${willChange === 1 ? "role" : "roles"}`}
            </Button>
          </>
        ) : null
      }
    >
      {found ? (
        <div className="flex flex-col gap-4">
          {found.roles.length > 0 ? (
            <RolesInFile roles={found.roles} />
          ) : (
            <p role="alert">No role could be read from this text.</p>
          )}
          {differing > 0 ? (
            <SegmentedControl
              label="Roles that differ from yours"
              value={existing}
              onValueChange={setExisting}
              className="self-start"
              options={[
                { value: "skip", label: "Keep mine" },
                { value: "replace", label: `Replace ${differing} of mine` },
              ]}
            />
          ) : null}
          {found.findings.length > 0 ? <FindingList findings={found.findings} /> : null}
        </div>
      ) : (
        <FileSource
          accept=".yaml,.yml,.json,application/json,application/yaml,text/yaml"
          pasteLabel="Or paste its text"
          placeholder={"name: Writer\ngoals:\n  - Clear text"}
          error={preview.error ? toApiError(preview.error).message : undefined}
          pending={preview.isPending}
          onText={(next) => {
            setText(next);
            read({ text: next });
          }}
        />
      )}
    </Dialog>
  );
}
