"use client";

import { useMutation, useQuery } from "@tanstack/react-query";
import clsx from "clsx";
import { Upload } from "lucide-react";
import { useState } from "react";
import { ErrorText } from "@/components/page/error-text";
import { useInvalidate, useTrpc, useTrpcClient } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/overlay/dialog";
import { useConfirm } from "@/components/ui/overlay/use-confirm";
import { TimeText } from "@/components/ui/time-text";
import { toast } from "@/components/ui/toasts";
import { useEditor, useEditorStore } from "../editing/editor-store";
import { useUiStore } from "../ui-store";
import { DifferenceList } from "./difference-list";
import { usePublishing } from "./publish-button";
import { useDraftDifferences, useVersions, type Version } from "./use-versions";

/** Published versions, compared with the draft, and restore points. */
export function VersionsDialog({ flush }: { flush: () => Promise<boolean> }) {
  const { data: versions, error } = useVersions();
  const [chosen, setChosen] = useState<number | null>(null);
  const ui = useUiStore();
  const close = () => ui.setState({ isVersionsOpen: false });
  const { isLoading, isSame, ...publishing } = usePublishing(flush);
  const version = versions?.find(({ number }) => number === chosen) ?? versions?.[0];
  return (
    <Dialog open onOpenChange={close} size="xl" title="Versions">
      <div className="grid gap-5 md:grid-cols-[minmax(0,20rem)_1fr]">
        <div className="flex flex-col gap-5">
          {isLoading || isSame ? null : (
            <Button icon={<Upload aria-hidden />} className="self-start" onClick={publishing.open}>
              Publish draft
            </Button>
          )}
          {publishing.dialog}
          <ErrorText error={error} />
          {versions?.length === 0 ? (
            <p className="text-[13px] text-ink-2">
              Nothing is published yet. Until then, triggers and other workflows run the draft.
            </p>
          ) : versions ? (
            <ol
              aria-label="Published versions"
              className="divide-y divide-line rounded-lg border border-line"
            >
              {versions.map((one, at) => (
                <VersionRow
                  key={one.number}
                  version={one}
                  isInUse={at === 0}
                  isChosen={one === version}
                  onChoose={() => setChosen(one.number)}
                />
              ))}
            </ol>
          ) : null}
          <RestorePoints flush={flush} onRestored={close} />
        </div>
        {version ? (
          <Chosen
            key={version.number}
            version={version}
            isInUse={version === versions?.[0]}
            flush={flush}
            onRestored={close}
          />
        ) : null}
      </div>
    </Dialog>
  );
}

const TEST_TONES = { running: "neutral", passed: "completed", failed: "failed" } as const;

function TestBadge({ tests }: Pick<Version, "tests">) {
  if (!tests) return null;
  const text = {
    running: "Testing…",
    passed: tests.total === 1 ? "1 test passed" : `${tests.total} tests passed`,
    failed: `${tests.failed.length} of ${tests.total} tests failed`,
  }[tests.status];
  return <Badge tone={TEST_TONES[tests.status]}>{text}</Badge>;
}

function VersionRow({
  version,
  isInUse,
  isChosen,
  onChoose,
}: {
  version: Version;
  isInUse: boolean;
  isChosen: boolean;
  onChoose: () => void;
}) {
  return (
    <li>
      <button
        type="button"
        aria-pressed={isChosen}
        onClick={onChoose}
        className="flex w-full flex-col gap-1 px-3 py-2 text-left text-[13px] hover:bg-ink/4 aria-pressed:bg-accent-soft"
      >
        <span className="flex w-full flex-wrap items-center gap-2">
          <span className="font-semibold">Version {version.number}</span>
          {isInUse ? <Badge tone="accent">Published</Badge> : null}
          <TestBadge tests={version.tests} />
          <TimeText at={version.created_at} className="ml-auto text-xs text-ink-3" />
        </span>
        {version.note ? (
          <span className={clsx("text-ink-2 [overflow-wrap:anywhere]", !isChosen && "line-clamp-3")}>
            {version.note}
          </span>
        ) : null}
      </button>
    </li>
  );
}

/** Replaces the editor's draft with the one stored on the server. */
function useReload(): () => Promise<void> {
  const store = useEditorStore();
  const client = useTrpcClient();
  const refresh = useInvalidate("versions", "workflows");
  const ui = useUiStore();
  return async () => {
    const { id } = store.getState();
    const { name, graph, revision } = await client.workflows.get.query({ id });
    store.getState().adopt({ name, graph }, revision);
    ui.setState({ comparedWith: null });
    await refresh();
  };
}

interface ChosenProps {
  version: Version;
  isInUse: boolean;
  flush: () => Promise<boolean>;
  onRestored: () => void;
}

function Chosen({ version, isInUse, flush, onRestored }: ChosenProps) {
  const { number, tests } = version;
  const id = useEditor((state) => state.id);
  const ui = useUiStore();
  const reload = useReload();
  const differences = useDraftDifferences(number);
  const restore = useMutation(
    useTrpc().versions.restore.mutationOptions({
      onSuccess: async (_done, { publish }) => {
        await reload();
        toast(publish ? `Version ${number} is published again` : `The draft is version ${number} again`);
        onRestored();
      },
    }),
  );
  const start = async (publish: boolean) => {
    if (await flush()) await restore.mutateAsync({ workflow_id: id, n: number, publish });
  };
  const rollBack = useConfirm({
    title: "Roll back the workflow?",
    description: `Version ${number} is published again as a new version and becomes the draft. The current draft becomes a restore point.`,
    confirm: "Roll back",
    onConfirm: () => start(true),
  });
  return (
    <section aria-label={`Version ${number}`} className="flex min-w-0 flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="mr-auto text-[13px] font-semibold">Draft compared with version {number}</h3>
        {differences?.length ? (
          <>
            <Button
              size="sm"
              onClick={() => {
                ui.setState({ comparedWith: number, isVersionsOpen: false, viewMode: "drawing" });
              }}
            >
              Show on canvas
            </Button>
            <Button size="sm" pending={restore.isPending} onClick={() => void start(false)}>
              Restore draft
            </Button>
          </>
        ) : null}
        {isInUse ? null : (
          <Button size="sm" variant="primary" pending={restore.isPending} onClick={rollBack.open}>
            Roll back
          </Button>
        )}
        {rollBack.dialog}
      </div>
      {tests?.status === "failed" ? (
        <p className="rounded-lg border border-failed/35 bg-failed/8 px-3 py-2 text-[13px]">
          Failed tests: {tests.failed.join(", ")}
        </p>
      ) : null}
      <DifferenceList label="Differences" list={differences ?? []} />
    </section>
  );
}

const REASONS = {
  edit: "Edits",
  import: "Import",
  merge: "Merge",
  replace: "Replacement",
  restore: "Restore",
};

function RestorePoints({ flush, onRestored }: Pick<ChosenProps, "flush" | "onRestored">) {
  const id = useEditor((state) => state.id);
  const trpc = useTrpc();
  const reload = useReload();
  const { data } = useQuery(trpc.versions.restorePoints.queryOptions({ workflow_id: id }));
  const restore = useMutation(
    trpc.versions.restorePoint.mutationOptions({
      onSuccess: async () => {
        await reload();
        toast("Restored the draft");
        onRestored();
      },
    }),
  );
  if (!data || data.length === 0) return null;
  return (
    <section aria-label="Restore points">
      <h3 className="mb-2 text-[13px] font-semibold">Restore points</h3>
      <ul className="flex flex-col gap-1">
        {data.map(({ id: point, reason, created_at }) => (
          <li key={point} className="flex items-center gap-2 text-[13px]">
            <span className="min-w-0 flex-1">
              <TimeText at={created_at} /> <span className="text-ink-3">before: {REASONS[reason]}</span>
            </span>
            <Button
              size="sm"
              variant="ghost"
              disabled={restore.isPending}
              onClick={() =>
                void flush().then((isSaved) => {
                  if (isSaved) restore.mutate({ workflow_id: id, point });
                })
              }
            >
              Restore
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
