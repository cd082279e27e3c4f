"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { CircleCheck } from "lucide-react";
import { useRouter } from "next/navigation";
import { useEffect, useState } from "react";
import { RolesInFile } from "@/components/roles/roles-in-file";
import { leftOutWords, ToolsAsked } from "@/components/roles/tools-asked";
import { type Answers, toApiError, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { SegmentedControl } from "@/components/ui/segmented-control";
import { TextField } from "@/components/ui/text-field";
import { toast } from "@/components/ui/toasts";
import { sketchOf } from "@/server/domain/sketch";
import { FileSource } from "./file-source";
import { FindingList } from "./finding-list";
import { SketchPicture } from "./sketch-picture";

type Preview = Answers["workflows"]["previewImport"];
type RoleChoice = "add_new" | "replace" | "skip";

export interface ImportDialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** A text that is there already, from a file that was dropped. */
  text?: string;
}

/** Imports a workflow: shows what is in the file and what would change, and saves only when told to. */
export function ImportDialog({ open, onOpenChange, text }: ImportDialogProps) {
  return open ? <Open key={text} text={text} onClose={() => onOpenChange(false)} /> : null;
}

function Open({ text: given, onClose }: { text: string | undefined; onClose: () => void }) {
  const trpc = useTrpc();
  const router = useRouter();
  const queryClient = useQueryClient();
  const [text, setText] = useState("");
  const [name, setName] = useState("");
  const [roles, setRoles] = useState<RoleChoice>("add_new");
  const [allowed, setAllowed] = useState<string[]>([]);
  const { mutate: read, ...preview } = useMutation(
    trpc.workflows.previewImport.mutationOptions({
      onSuccess: (found) => setName(found.name),
      onError: () => {},
    }),
  );
  useEffect(() => {
    if (given === undefined) return;
    read({ text: given });
  }, [given, read]);
  const source = given ?? text;
  const load = useMutation(
    trpc.workflows.import.mutationOptions({
      onSuccess: ({ id, left_out }) => {
        void queryClient.invalidateQueries();
        onClose();
        router.push(`/workflows/${id}`);
        const detail = leftOutWords(left_out);
        toast(`Imported “${name}”`, { tone: "success", ...(detail ? { detail } : {}) });
      },
    }),
  );
  const found = preview.data;

  return (
    <Dialog
      open
      onOpenChange={onClose}
      size="lg"
      title="Import a workflow"
      description={
        found
          ? "Nothing is saved yet."
          : "A workflow file from Troupe, or a WorkflowGraph JSON from OpenHands."
      }
      footer={
        found ? (
          <>
            <Button onClick={() => (given === undefined ? preview.reset() : onClose())}>
              {given === undefined ? "Back" : "Cancel"}
            </Button>
            <Button
              variant="primary"
              disabled={!found.ok || name.trim() === ""}
              pending={load.isPending}
              onClick={() => load.mutate({ text: source, name: name.trim(), roles, allow_tools: allowed })}
            >
              Import workflow
            </Button>
          </>
        ) : null
      }
    >
      {found ? (
        <Found
          found={found}
          name={name}
          onName={setName}
          roles={roles}
          onRoles={setRoles}
          allowed={allowed}
          onAllowed={setAllowed}
        />
      ) : (
        <FileSource
          accept=".json,application/json"
          pasteLabel="Or paste its text"
          placeholder='{ "graph_id": … }'
          error={preview.error ? toApiError(preview.error).message : undefined}
          pending={preview.isPending}
          onText={(next) => {
            setText(next);
            setAllowed([]);
            read({ text: next });
          }}
        />
      )}
    </Dialog>
  );
}

interface FoundProps {
  found: Preview;
  name: string;
  onName: (name: string) => void;
  roles: RoleChoice;
  onRoles: (choice: RoleChoice) => void;
  allowed: readonly string[];
  onAllowed: (tools: string[]) => void;
}

function Found({ found, name, onName, roles, onRoles, allowed, onAllowed }: FoundProps) {
  if (!found.ok || !found.graph)
    return (
      <div className="flex flex-col gap-4">
        <p role="alert">No workflow could be read from this text.</p>
        <FindingList findings={found.findings} />
      </div>
    );
  const sketch = sketchOf(found.graph);
  const differing = found.roles.filter(({ state }) => state === "differs");
  const coming = found.roles.filter(
    ({ state }) => roles === "replace" || (roles === "add_new" && state === "new"),
  );
  return (
    <div className="flex flex-col gap-5">
      <SketchPicture sketch={sketch} className="h-40 w-full rounded-lg border border-line" />
      <TextField label="Name" value={name} onValueChange={onName} maxLength={200} />
      <section aria-label="What was found" className="flex flex-col gap-2">
        <p className="text-[13px] text-ink-2">
          {sketch.nodes.length} {sketch.nodes.length === 1 ? "node" : "nodes"}, {found.graph.edges.length}{" "}
          {found.graph.edges.length === 1 ? "edge" : "edges"}
        </p>
        {found.findings.length === 0 ? (
          <p className="flex items-center gap-2 text-[13px]">
            <CircleCheck aria-hidden="true" className="size-4 text-completed" />
            Everything in the file was understood.
          </p>
        ) : (
          <FindingList findings={found.findings} />
        )}
      </section>
      {found.roles.length > 0 ? (
        <div className="flex flex-col gap-2">
          <h3 className="text-[13px] font-medium">Roles in the file</h3>
          <RolesInFile roles={found.roles} />
          <SegmentedControl<RoleChoice>
            label="What to do with the roles"
            value={roles}
            onValueChange={onRoles}
            className="self-start"
            options={[
              { value: "add_new", label: differing.length > 0 ? "Add new, keep mine" : "Add new" },
              ...(differing.length > 0
                ? [{ value: "replace" as const, label: `Replace ${differing.length} of mine` }]
                : []),
              { value: "skip", label: "Leave out" },
            ]}
          />
          <ToolsAsked roles={coming} allowed={allowed} onAllowed={onAllowed} />
        </div>
      ) : null}
    </div>
  );
}
