"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import clsx from "clsx";
import {
  ArrowLeft,
  CassetteTape,
  FlaskConical,
  Pencil,
  RotateCcw,
  Share,
  TextCursorInput,
} from "lucide-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { type ReactNode, useMemo } from "react";
import { formatTokens } from "@/components/display/format";
import { StatusMark, statusWord } from "@/components/display/status-mark";
import { type ShellCommand, useShellCommands } from "@/components/page/page-commands";
import { usePageTitle } from "@/components/page/page-title";
import { useTrpc } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import type { MenuEntry } from "@/components/ui/overlay/menu";
import type { MenuAction } from "@/components/ui/overlay/menu-popup";
import { MoreMenu } from "@/components/ui/overlay/more-menu";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import { SimulatedBadge } from "@/components/ui/simulated-badge";
import { toast } from "@/components/ui/toasts";
import { NARROW, useMedia } from "@/components/ui/use-media";
import type { RunState } from "@/server/domain/run";
import type { RunPlace } from "@/server/domain/run/engine-state";
import { ParentLink } from "./children/parent-link";
import { usePausedBelow } from "./children/paused-child";
import { CancelButton, RunControls } from "./control/run-controls";
import { SkipDemo } from "./control/skip-demo";
import { usePaused } from "./control/use-control";
import { useCassetteFile } from "./keep/cassette-file";
import { useKeeping } from "./keep/keep-button";
import { RunElapsed, RunWaited } from "./live/elapsed";
import { describeCost } from "./live/paid";
import { isIdle } from "./live/run-view-store";
import { useReplay, WatchAgain } from "./replay/replay-button";
import { useRun } from "./run-context";
import { RunLocation } from "./run-location";
import { useRunAgain } from "./start/run-again";
import { StartedByLine } from "./started-by";
import { runStatus } from "./status";

const ShareDialog = dynamic(() => import("./past/share-dialog").then((m) => m.ShareDialog), { ssr: false });
const Lineage = dynamic(() => import("./history/lineage").then((m) => m.Lineage), { ssr: false });

/** The header of a run: name, status, duration, cost and actions. */
export function RunHeader({
  runId,
  workflowId,
  isHeld,
  place,
}: {
  runId: string;
  workflowId: string;
  /** The run is quarantined: its actions are shown elsewhere. */
  isHeld: boolean;
  place: RunPlace | null;
}) {
  const name = useRun(({ head }) => head.run.workflow_name, "");
  const isSimulated = useRun(
    ({ head: { run } }) =>
      // The text of the first call is on the canvas before that call ends.
      run.simulated || (run.status !== "finished" && run.provider_summary?.simulated === true),
    false,
  );
  const isGone = useRunAgain()?.isGone ?? false;
  const isNarrow = useMedia(NARROW);
  useRunTitle(name, isHeld);
  return (
    <header className="flex shrink-0 flex-wrap items-center gap-x-5 gap-y-1 border-b border-line bg-surface px-3 py-2 md:min-h-14 md:px-4">
      <div className="flex min-w-0 flex-1 items-center gap-2">
        <Link
          href={isGone ? "/runs" : `/workflows/${workflowId}`}
          aria-label={isGone ? "All runs" : "Back to workflow"}
          className="inline-flex size-8 shrink-0 items-center justify-center rounded-lg text-ink-2 hover:bg-ink/6 hover:text-ink pointer-coarse:size-10"
        >
          <ArrowLeft aria-hidden className="size-4" />
        </Link>
        <div className="min-w-0 flex-1">
          <div className="flex min-w-0 items-center gap-2">
            <h1 className="min-w-0 truncate text-[15px] font-semibold">{name || "Run"}</h1>
            {isNarrow ? null : <RunStatus runId={runId} isHeld={isHeld} />}
            {isSimulated ? <SimulatedBadge /> : null}
          </div>
          {/* Below the name there is room for it: the header keeps its height while it comes and goes. */}
          {isNarrow ? null : <RunLocation place={place} />}
          <StartedByLine />
        </div>
      </div>
      {isNarrow ? <RunLocation place={place} className="order-4 w-full px-1" /> : null}
      <RunFacts>{isNarrow ? <RunStatus runId={runId} isHeld={isHeld} /> : null}</RunFacts>
      <Actions runId={runId} workflowId={workflowId} isHeld={isHeld} />
      {isGone ? <GoneNote workflowId={workflowId} /> : null}
      <ParentLink />
      <Lineage runId={runId} />
    </header>
  );
}

/** What a deleted workflow means for its run. */
function GoneNote({ workflowId }: { workflowId: string }) {
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const restore = useMutation(
    trpc.workflows.restore.mutationOptions({
      onSuccess: () => queryClient.invalidateQueries(trpc.workflows.pathFilter()),
      onError: () => toast("This workflow can't be restored", { tone: "error" }),
    }),
  );
  return (
    <p className="order-last flex w-full flex-wrap items-center gap-x-4 text-[13px] text-ink-2 max-md:px-1">
      This run's workflow was deleted. The run is kept.
      <Button
        size="sm"
        variant="ghost"
        className="-ml-2.5"
        pending={restore.isPending}
        onClick={() => restore.mutate({ id: workflowId })}
      >
        Restore workflow
      </Button>
    </p>
  );
}

function RunStatus({ runId, isHeld }: { runId: string; isHeld: boolean }) {
  const run = useRun<RunState["run"] | null>(({ state }) => state.run, null);
  const isWaiting = useRun(({ state }) => run?.status === "running" && isIdle(state), false);
  const isPast = useRun(({ cursor }) => cursor !== null, false);
  const isPausedBelow = usePausedBelow(runId) !== null;
  if (!run && !isHeld) return null;
  const ownStatus = isHeld || !run ? "held" : isWaiting && !run.paused_at ? "waiting" : statusOf(run);
  const status = isPausedBelow ? "paused" : ownStatus;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a few words, not a set of fields
    <span role="group" aria-label="Run status" className="flex shrink-0 items-center gap-2">
      <StatusMark status={status} withWord isPast={isPast} />
      {isPast ? (
        <span className="rounded-md bg-accent-soft px-1.5 text-xs leading-5 text-accent">In the past</span>
      ) : null}
    </span>
  );
}

/** Shows the status in the title of the browser tab. */
function useRunTitle(name: string, isHeld: boolean): void {
  const statusText = useRun(({ head }) => statusWord(statusOf(head.run)), "");
  const word = isHeld ? statusWord("held") : statusText;
  usePageTitle(name ? `${word}: ${name}` : null);
}

const statusOf = ({ status, final_status, paused_at }: RunState["run"]) =>
  runStatus(paused_at ? "paused" : status, final_status);

function RunFacts({ children }: { children: ReactNode }) {
  const totals = useRun<RunState["totals"] | null>(({ state }) => state.totals, null);
  const cost = useRun(({ state }) => describeCost(state, state.totals), "");
  if (!totals) return children;
  const { usage } = totals;
  return (
    <div className="flex shrink-0 items-center gap-4 text-[13px] tabular-nums max-md:order-3 max-md:w-full max-md:flex-wrap max-md:justify-between max-md:gap-y-1 max-md:px-1">
      {children}
      <dl className="flex items-center gap-4 max-sm:gap-3">
        <Fact name="Time">
          <RunElapsed />
        </Fact>
        <RunWaited>{(time) => <Fact name="Waited">{time}</Fact>}</RunWaited>
        <Fact name="Tokens" className="max-sm:hidden">
          <span title={`${formatTokens(usage.input_tokens)} in, ${formatTokens(usage.output_tokens)} out`}>
            {formatTokens(usage.input_tokens + usage.output_tokens)}
          </span>
        </Fact>
        <Fact name="Cost">{cost}</Fact>
      </dl>
    </div>
  );
}

function Fact({ name, className, children }: { name: string; className?: string; children: ReactNode }) {
  return (
    <div className={clsx("flex items-baseline gap-1.5 whitespace-nowrap", className)}>
      <dt className="text-xs text-ink-3">{name}</dt>
      <dd className="min-w-8 font-medium">{children}</dd>
    </div>
  );
}

function Actions({ runId, workflowId, isHeld }: { runId: string; workflowId: string; isHeld: boolean }) {
  const isOver = useRun(({ head }) => head.run.status === "finished", false);
  const isKnown = useRun(({ lastSeq }) => lastSeq > 0, false);
  const again = useRunAgain();
  const isNarrow = useMedia(NARROW);
  const isPaused = usePaused() !== null;
  const share = useDialog((close) => <ShareDialog runId={runId} onClose={close} />);
  const isTight = useMedia(TIGHT);
  if (!isKnown || !again) return null;
  const isThere = !again.isGone;
  const actions: MenuAction[] = [
    { label: "Share this run", icon: <Share />, onSelect: share.open },
    ...(isOver && isThere
      ? [
          { label: "Edit input and rerun", icon: <TextCursorInput />, onSelect: again.editInput },
          { label: "Rerun", icon: <RotateCcw />, onSelect: again.start, disabled: again.isPending },
        ]
      : []),
    ...(isThere ? [{ label: "Edit workflow", icon: <Pencil />, href: `/workflows/${workflowId}` }] : []),
  ];
  const isInMenu = isTight || !isOver;
  return (
    <div className="flex shrink-0 items-center gap-2">
      <SkipDemo runId={runId} />
      {isNarrow ? null : (
        <>
          {isPaused ? null : <RunControls isHeld={isHeld} />}
          <CancelButton isHeld={isHeld} />
        </>
      )}
      <WatchAgain />
      {(isInMenu ? [] : actions).map(({ label, icon, href, onSelect, disabled }) =>
        href ? (
          <ButtonLink key={label} href={href} icon={icon}>
            {label}
          </ButtonLink>
        ) : (
          <Button key={label} icon={icon} aria-label={label} disabled={disabled} onClick={onSelect}>
            {SHORT[label] ?? label}
          </Button>
        ),
      )}
      <More runId={runId} workflowId={workflowId} isOver={isOver} actions={isInMenu ? actions : []} />
      {share.dialog}
    </div>
  );
}

/** Short visible labels of header buttons; the accessible name is longer. */
const SHORT: Readonly<Record<string, string>> = {
  "Share this run": "Share",
  "Edit input and rerun": "Edit input",
};

/** So narrow that the header keeps its buttons in the menu (Tailwind's `lg` begins above). */
const TIGHT = "(max-width: 63.99rem)";

function More({
  runId,
  workflowId,
  isOver,
  actions,
}: {
  runId: string;
  workflowId: string;
  isOver: boolean;
  actions: readonly MenuAction[];
}) {
  const again = useRunAgain();
  const cassette = useCassetteFile(runId);
  const replay = useReplay(runId, workflowId);
  const isAlone = useRun(({ head }) => head.run.only_node !== undefined, false);
  const keeping = useKeeping(runId);
  useTestCommands({ workflowId, isThere: again?.isGone === false, isOver, keep: keeping.open });
  if (!again) return null;
  const ofWorkflow = (entries: MenuEntry[]) => (again.isGone ? [] : entries);
  return (
    <>
      <MoreMenu
        label="More"
        items={[
          ...actions,
          ...(actions.length > 0 ? ["separator" as const] : []),
          ...(isOver && !isAlone ? [replay.entry] : []),
          {
            label: "Download recording",
            hint: "Model and tool responses as a file",
            icon: <CassetteTape />,
            onSelect: cassette.save,
            disabled: !isOver || cassette.isPending,
          },
          ...ofWorkflow([
            {
              label: "Save as test",
              icon: <FlaskConical />,
              onSelect: keeping.open,
              disabled: !isOver,
            },
            "separator",
            {
              label: "Workflow tests",
              icon: <FlaskConical />,
              href: `/workflows/${workflowId}/tests`,
            },
          ]),
        ]}
      />
      {replay.dialog}
      {keeping.dialog}
    </>
  );
}

/** What the command palette offers of tests on a run's page. */
function useTestCommands({
  workflowId,
  isThere,
  isOver,
  keep,
}: {
  workflowId: string;
  /** The workflow still is. */
  isThere: boolean;
  isOver: boolean;
  keep: () => void;
}) {
  const router = useRouter();
  const commands = useMemo(
    (): ShellCommand[] =>
      !isThere
        ? []
        : [
            ...(isOver
              ? [{ id: "keep as test", label: "Save run as test", section: "This run", run: keep }]
              : []),
            {
              id: "run workflow tests",
              label: "Run workflow tests",
              section: "This run",
              keywords: "scenario check",
              run: () => router.push(`/workflows/${workflowId}/tests?run`),
            },
          ],
    [isThere, isOver, workflowId, router, keep],
  );
  useShellCommands("run tests", commands);
}
