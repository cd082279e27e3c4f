"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { CircleCheck } from "lucide-react";
import { useRouter } from "next/navigation";
import { useEffect, useState } from "react";
import { SketchPicture } from "@/components/display/sketch-picture";
import { RolesInFile } from "@/components/import-export/roles-in-file";
import { describeLeftOut } from "@/components/import-export/tools-asked";
import { type Answers, toApiError, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { SegmentedControl } from "@/components/ui/segmented-control";
import { TextField } from "@/components/ui/text-field";
import { toast } from "@/components/ui/toasts";
import { sketchOf } from "@/server/domain/graph/sketch";
import { CapabilityList } from "./capability-list";
import { FileSource } from "./file-source";
import { FindingList } from "./finding-list";

type Preview = Answers["workflows"]["previewImport"];
type RoleChoice = "add_new" | "replace" | "skip";

export interface ImportDialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** A text that is there already, from a file that was dropped. */
  text?: string | undefined;
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
  const [over, setOver] = useState<string>();
  const { mutate: read, ...preview } = useMutation(
    trpc.workflows.previewImport.mutationOptions({
      onSuccess: (found, { over }) => {
        // What was ticked already stays ticked under another choice, as far as it is still asked for.
        setAllowed((ticked) =>
          found.capabilities.flatMap(({ key, had }) => (had || ticked.includes(key) ? [key] : [])),
        );
        // Looked at again under another choice, it keeps the name that somebody gave it.
        if (over === undefined) setName((name) => name || found.name);
      },
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
      onSuccess: ({ id, left_out, withheld }) => {
        void queryClient.invalidateQueries();
        onClose();
        router.push(`/workflows/${id}`);
        const detail = [describeWithheld(withheld), describeLeftOut(left_out)].filter(Boolean).join(" ");
        toast(`Imported “${name}”`, { tone: "success", ...(detail ? { detail } : {}) });
      },
    }),
  );
  // Another choice asks again; what is shown stays until the answer is there.
  const [shown, setShown] = useState<Preview>();
  if (preview.data && preview.data !== shown) setShown(preview.data);
  const found = preview.data ?? (preview.isPending && source !== "" ? shown : undefined);

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
              onClick={() =>
                load.mutate({
                  text: source,
                  name: name.trim(),
                  roles,
                  allow: allowed,
                  ...(over === undefined ? {} : { over }),
                })
              }
            >
              {over === undefined ? "Import workflow" : "Replace mine"}
            </Button>
          </>
        ) : null
      }
    >
      {found ? (
        <ImportPreview
          found={found}
          name={name}
          onName={setName}
          roles={roles}
          onRoles={(next) => {
            setRoles(next);
            read({ text: source, roles: next, ...(over === undefined ? {} : { over }) });
          }}
          allowed={allowed}
          onAllowed={setAllowed}
          over={over}
          onOver={(next) => {
            setOver(next);
            read({ text: source, roles, ...(next === undefined ? {} : { over: next }) });
          }}
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
            setName("");
            setAllowed([]);
            setOver(undefined);
            read({ text: next });
          }}
        />
      )}
    </Dialog>
  );
}

interface ImportPreviewProps {
  found: Preview;
  name: string;
  onName: (name: string) => void;
  roles: RoleChoice;
  onRoles: (choice: RoleChoice) => void;
  allowed: readonly string[];
  onAllowed: (keys: string[]) => void;
  /** The workflow to replace. */
  over: string | undefined;
  onOver: (id: string | undefined) => void;
}

function ImportPreview(props: ImportPreviewProps) {
  const { found, name, onName, roles, onRoles, allowed, onAllowed, over, onOver } = props;
  if (!found.ok || !found.graph)
    return (
      <div className="flex flex-col gap-4">
        <p role="alert">No workflow could be read from this text.</p>
        <FindingList findings={found.findings} />
      </div>
    );
  const sketch = sketchOf(found.graph);
  const differing = found.roles.filter(({ state }) => state === "differs");
  const [twin] = found.twins;
  return (
    <div className="flex flex-col gap-5">
      <SketchPicture sketch={sketch} className="h-40 w-full rounded-lg border border-line" />
      <TextField label="Name" value={name} onValueChange={onName} maxLength={200} />
      {twin ? (
        <div className="flex flex-col gap-2">
          <h3 className="text-[13px] font-medium">There is a workflow of this name</h3>
          <SegmentedControl<"new" | "over">
            label="What to do with the workflow of this name"
            value={over === undefined ? "new" : "over"}
            onValueChange={(choice) => onOver(choice === "new" ? undefined : twin.id)}
            className="self-start"
            options={[
              { value: "new", label: "Add beside it" },
              { value: "over", label: `Replace “${twin.name}”` },
            ]}
          />
        </div>
      ) : null}
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
        </div>
      ) : null}
      <CapabilityList
        title="What it would use"
        asked={found.capabilities}
        graph={found.graph}
        allowed={allowed}
        onAllowed={onAllowed}
        isChange={over !== undefined}
        later="It can be ticked later, in its settings."
      />
    </div>
  );
}

/** Says what an imported workflow may not use yet. */
const describeWithheld = (withheld: readonly string[]): string =>
  withheld.length === 0
    ? ""
    : `It cannot run yet: it may not use ${withheld.length} ${withheld.length === 1 ? "thing" : "things"} that it asks for. The problems on the left allow them.`;
