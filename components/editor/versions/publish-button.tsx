"use client";

import { useMutation } from "@tanstack/react-query";
import { Check, Upload } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { FormDialog } from "@/components/forms/form-dialog";
import { useInvalidate, useTrpc, useTrpcClient } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { TextField } from "@/components/ui/input/text-field";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import { toast } from "@/components/ui/toasts";
import { useEditor, useEditorStore } from "../editing/editor-store";
import { catchUp } from "../editing/use-autosave";
import { useUiStore } from "../ui-store";
import { DifferenceList } from "./difference-list";
import { useDraftDifferences, useVersions } from "./use-versions";

/** The published version, whether the draft equals it, and the dialog that publishes the draft. */
export function usePublishing(flush: () => Promise<boolean>) {
  const { data: versions } = useVersions();
  const [newest] = versions ?? [];
  const differences = useDraftDifferences(newest?.number);
  const publishing = useDialog((close) => <PublishDialog flush={flush} onClose={close} />);
  return {
    ...publishing,
    isLoading: versions === undefined,
    newest: newest?.number,
    isSame: newest !== undefined && differences?.length === 0,
  };
}

/** Publishes the draft, and shows whether it differs from the published version. Phones have it in the versions dialog. */
export function PublishButton({ flush }: { flush: () => Promise<boolean> }) {
  const ui = useUiStore();
  useRefresh();
  const { newest, isLoading, isSame, ...publishing } = usePublishing(flush);
  return (
    <>
      <Button
        className="max-sm:hidden"
        icon={isSame ? <Check aria-hidden /> : <Upload aria-hidden />}
        disabled={isLoading}
        title={
          newest
            ? isSame
              ? `Version ${newest} is published`
              : `Changed since version ${newest}`
            : "Publish the first version"
        }
        onClick={() => (isSame ? ui.setState({ isVersionsOpen: true }) : publishing.open())}
      >
        {isSame ? `Version ${newest}` : "Publish"}
      </Button>
      {publishing.dialog}
    </>
  );
}

/** Compares again after each saved revision. */
function useRefresh() {
  const revision = useEditor((state) => state.revision);
  const refresh = useRef(useInvalidate("versions"));
  useEffect(() => {
    if (revision > 0) void refresh.current();
  }, [revision]);
}

function PublishDialog({ flush, onClose }: { flush: () => Promise<boolean>; onClose: () => void }) {
  const editor = useEditorStore();
  const client = useTrpcClient();
  const [note, setNote] = useState("");
  const [draft, setDraft] = useState<"idle" | "saving" | "unsaved">("idle");
  const [newest] = useVersions().data ?? [];
  const differences = useDraftDifferences(newest?.number);
  const refresh = useInvalidate("versions");
  const ui = useUiStore();
  const publish = useMutation(
    useTrpc().versions.publish.mutationOptions({
      onSuccess: ({ number, created, tests }) => {
        void refresh();
        onClose();
        toast(
          created
            ? `Published version ${number}${tests ? "; its tests are running" : ""}`
            : `Version ${number} is the same`,
          { action: { label: "Versions", onSelect: () => ui.setState({ isVersionsOpen: true }) } },
        );
      },
      onError: () => {
        // Perhaps because the draft was changed elsewhere.
        void catchUp(client, editor);
        void refresh();
      },
    }),
  );
  return (
    <FormDialog
      size="lg"
      title={newest ? `Publish version ${newest.number + 1}` : "Publish"}
      description="Triggers and other workflows run the published version. Runs in progress keep theirs."
      submit="Publish"
      mutation={publish}
      error={draft === "unsaved" ? "The draft isn't saved. Close this dialog to see why." : undefined}
      isIncomplete={draft === "saving"}
      onSubmit={() => {
        setDraft("saving");
        void flush().then((isSaved) => {
          setDraft(isSaved ? "idle" : "unsaved");
          const { id, revision } = editor.getState();
          if (isSaved) publish.mutate({ workflow_id: id, note, revision });
        });
      }}
      onClose={onClose}
    >
      <TextField
        label="Note"
        aside="Optional"
        placeholder="What changed"
        maxLength={2000}
        value={note}
        onValueChange={setNote}
      />
      {newest ? (
        <section aria-label="Changes">
          <h3 className="mb-2 text-[13px] font-semibold">Changes since version {newest.number}</h3>
          <DifferenceList label="Changes" list={differences ?? []} />
        </section>
      ) : null}
    </FormDialog>
  );
}
