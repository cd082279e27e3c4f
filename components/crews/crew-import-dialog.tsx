"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { toApiError, useTrpc } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { SegmentedControl } from "@/components/ui/segmented-control";
import { toast } from "@/components/ui/toasts";
import { FileSource } from "@/components/workflows/file-source";
import { FindingList } from "@/components/workflows/finding-list";

const STATES = { new: "New", same: "Same as yours", differs: "Differs from yours" } as const;

/** Imports crews from a YAML or JSON text; shows what is in it before anything is saved. */
export function CrewImportDialog({
  text: given,
  onClose,
}: {
  text?: string | undefined;
  onClose: () => void;
}) {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const [text, setText] = useState("");
  const [existing, setExisting] = useState<"skip" | "replace">("skip");
  const { mutate: read, ...preview } = useMutation(
    trpc.crews.previewImport.mutationOptions({ onError: () => {} }),
  );
  useEffect(() => {
    if (given !== undefined) read({ text: given });
  }, [given, read]);
  const load = useMutation(
    trpc.crews.import.mutationOptions({
      onSuccess: ({ created, replaced, skipped }) => {
        void queryClient.invalidateQueries(trpc.crews.pathFilter());
        void queryClient.invalidateQueries(trpc.roles.pathFilter());
        onClose();
        toast(`${created.length} added, ${replaced.length} replaced, ${skipped.length} left as they were`, {
          tone: "success",
        });
      },
    }),
  );
  const found = preview.data;
  const differing = found?.crews.filter(({ state }) => state === "differs").length ?? 0;
  const fresh = found?.crews.filter(({ state }) => state === "new").length ?? 0;
  const willChange = fresh + (existing === "replace" ? differing : 0);
  const newRoles = found?.roles.filter(({ state }) => state === "new").map(({ role }) => role.name) ?? [];
  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="lg"
      title="Import crews"
      description={
        found ? "Nothing is saved yet." : "One crew or many, as YAML or JSON; Roboco’s team files, too."
      }
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
                : `Import ${willChange} ${willChange === 1 ? "crew" : "crews"}`}
            </Button>
          </>
        ) : null
      }
    >
      {found ? (
        <div className="flex flex-col gap-4">
          {found.crews.length > 0 ? (
            <ul aria-label="Crews in the file" className="divide-y divide-line rounded-lg border border-line">
              {found.crews.map(({ crew, state }) => (
                <li key={crew.crew_id} className="flex items-center gap-3 px-3 py-2">
                  <span className="min-w-0 flex-1">
                    <span className="block truncate font-mono text-[13px] font-medium">{crew.crew_id}</span>
                    <span className="block truncate text-[13px] text-ink-2">
                      {crew.agents.map(({ role_name }) => role_name).join(", ")}
                    </span>
                  </span>
                  <Badge tone={state === "differs" ? "waiting" : "neutral"}>{STATES[state]}</Badge>
                </li>
              ))}
            </ul>
          ) : (
            <p role="alert">No crew could be read from this text.</p>
          )}
          {newRoles.length > 0 ? (
            <p className="text-[13px] text-ink-2">
              {newRoles.length === 1 ? "This role comes along: " : "These roles come along: "}
              {newRoles.join(", ")}. Roles that you have stay as they are.
            </p>
          ) : null}
          {differing > 0 ? (
            <SegmentedControl
              label="Crews that differ from yours"
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
          placeholder={"crew_id: writers\nagents:\n  - role: Writer\n  - role: Editor"}
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
