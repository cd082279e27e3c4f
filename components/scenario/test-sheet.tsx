"use client";

import { useQuery } from "@tanstack/react-query";
import { Play, X } from "lucide-react";
import { type ReactNode, useState } from "react";
import { formatDuration } from "@/components/display/format";
import { markWord, TestMark } from "@/components/display/test-mark";
import { ErrorText } from "@/components/page/error-text";
import { toApiError, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { IconButton } from "@/components/ui/icon-button";
import { Sheet } from "@/components/ui/overlay/sheet";
import { Skeleton } from "@/components/ui/skeleton";
import { Spinner } from "@/components/ui/spinner";
import { Tabs } from "@/components/ui/tabs";
import { TimeText } from "@/components/ui/time-text";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { ReportView } from "./report-view";
import { useTestDraft } from "./test-draft";
import { TestEditor, TestGuard } from "./test-editor";
import {
  isRunning,
  type TestActions,
  TestedWorkflowContext,
  type TestResult,
  useTestedWorkflow,
  type WholeTest,
} from "./use-tests";

/** One test over the list: its last report, the test itself, and its history. `testId`: null for a new one. */
export function TestSheet({
  testId,
  onClose,
  onCreated,
  ...tested
}: {
  testId: string | null;
  workflowId: string;
  graph: WorkflowGraph;
  actions: TestActions;
  onClose: () => void;
  onCreated: (id: string) => void;
}) {
  return (
    <Sheet open onClose={onClose} label={testId === null ? "New test" : "Test"}>
      <TestedWorkflowContext value={tested}>
        {testId === null ? (
          <NewTest onClose={onClose} onCreated={onCreated} />
        ) : (
          <OneTest testId={testId} onClose={onClose} />
        )}
      </TestedWorkflowContext>
    </Sheet>
  );
}

function NewTest({ onClose, onCreated }: { onClose: () => void; onCreated: (id: string) => void }) {
  const writing = useTestDraft(null, onCreated);
  return (
    <>
      <Header title="New test" onClose={onClose} />
      <TestEditor saved={null} writing={writing} />
      <TestGuard writing={writing} />
    </>
  );
}

function Header({
  title,
  mark,
  action,
  onClose,
}: {
  title: string;
  mark?: ReactNode;
  action?: ReactNode;
  onClose: () => void;
}) {
  return (
    <header className="flex min-h-13 shrink-0 items-center gap-3 border-b border-line px-4 py-2.5 sm:px-6">
      {mark}
      <h2 className="min-w-0 flex-1 truncate text-[15px] font-semibold">{title}</h2>
      {action}
      <IconButton plain label="Close" icon={<X aria-hidden />} onClick={onClose} />
    </header>
  );
}

function OneTest({ testId, onClose }: { testId: string; onClose: () => void }) {
  const { workflowId, actions } = useTestedWorkflow();
  const trpc = useTrpc();
  const test = useQuery(trpc.tests.get.queryOptions({ workflow_id: workflowId, test_id: testId }));
  const summary = actions.list.data?.find(({ id }) => id === testId);
  if (test.error)
    return (
      <>
        <Header title="Test" onClose={onClose} />
        <EmptyState title="Couldn't load this test" actions={<Button onClick={onClose}>All tests</Button>}>
          {toApiError(test.error).message}
        </EmptyState>
      </>
    );
  if (!test.data || !summary)
    return (
      <>
        <Header title="Test" onClose={onClose} />
        <div className="flex flex-1 items-center justify-center">
          <Spinner size={20} label="Loading test" />
        </div>
      </>
    );
  const { last } = summary;
  return (
    <>
      <Header
        title={test.data.name}
        mark={<TestMark status={last ? last.status : "never"} />}
        onClose={onClose}
        action={
          <Button
            icon={<Play aria-hidden />}
            pending={isRunning(actions, testId)}
            disabled={actions.running !== null}
            onClick={() => actions.runOne(testId)}
          >
            Run
          </Button>
        }
      />
      <Views test={test.data} last={last} />
    </>
  );
}

type View = "report" | "test" | "history";

function Views({ test, last }: { test: WholeTest; last: TestResult | null }) {
  const [view, setView] = useState<View>(last ? "report" : "test");
  // An earlier result, from the history.
  const [chosen, setChosen] = useState<number | null>(null);
  const shown = chosen ?? last?.id ?? null;
  // Above the tabs, so that the draft survives switching to the report.
  const writing = useTestDraft(test);
  return (
    <>
      <TestGuard writing={writing} />
      <Tabs<View>
        label="About this test"
        value={view}
        onValueChange={(next) => {
          setView(next);
          if (next === "report") setChosen(null);
        }}
        className="min-h-0 flex-1"
        listClassName="px-4 sm:px-6"
        panelClassName="flex flex-col overflow-y-auto"
        tabs={[
          {
            value: "report",
            label: "Report",
            content:
              shown === null ? (
                <EmptyState title="Not run yet">Run the test to see its result here.</EmptyState>
              ) : (
                <div className="px-4 py-5 sm:px-6">
                  <Report resultId={shown} isLast={shown === last?.id} />
                </div>
              ),
          },
          {
            value: "test",
            label: "Test",
            badge: writing.draft.isChanged ? (
              <span title="Unsaved" className="size-1.5 rounded-full bg-accent" />
            ) : null,
            content: <TestEditor saved={test} writing={writing} />,
          },
          {
            value: "history",
            label: "History",
            content: (
              <div className="px-4 py-5 sm:px-6">
                <ResultHistory
                  testId={test.id}
                  onOpen={(id) => {
                    setChosen(id);
                    setView("report");
                  }}
                />
              </div>
            ),
          },
        ]}
      />
    </>
  );
}

function Report({ resultId, isLast }: { resultId: number; isLast: boolean }) {
  const { workflowId } = useTestedWorkflow();
  const result = useQuery({
    ...useTrpc().tests.result.queryOptions({ workflow_id: workflowId, result_id: resultId }),
    // A result never changes.
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (result.error) return <ErrorText error={result.error} />;
  if (!result.data) return <Spinner size={16} label="Loading report" />;
  const { at, revision, report } = result.data;
  return (
    <div className="flex flex-col gap-4">
      {isLast ? null : (
        <p className="rounded-lg bg-sunken px-3 py-2 text-[13px] text-ink-2">
          Run on {new Date(at).toLocaleString("en-GB")} with version {revision} of the workflow.
        </p>
      )}
      <ReportView report={report} />
    </div>
  );
}

/** The results of a test, newest first; each opens its report. */
function ResultHistory({ testId, onOpen }: { testId: string; onOpen: (resultId: number) => void }) {
  const { workflowId } = useTestedWorkflow();
  const { data, error } = useQuery(
    useTrpc().tests.results.queryOptions({ workflow_id: workflowId, test_id: testId, limit: 50 }),
  );
  if (error) return <ErrorText error={error} />;
  if (!data) return <Skeleton className="h-24" />;
  if (data.length === 0) return <EmptyState title="Not run yet" />;
  return (
    <ol aria-label="History" className="flex flex-col divide-y divide-line rounded-xl border border-line">
      {data.map(({ id, at, by, status, revision, took_ms }) => (
        <li key={id}>
          <button
            type="button"
            aria-label={`${markWord(status)}, ${new Date(at).toLocaleString("en-GB")}: show report`}
            onClick={() => onOpen(id)}
            className="flex w-full flex-wrap items-center gap-x-4 gap-y-1 px-3.5 py-2.5 text-left text-[13px] hover:bg-ink/3"
          >
            <span className="w-32">
              <TestMark status={status} withWord />
            </span>
            <TimeText at={at} />
            <span className="text-ink-2">Version {revision}</span>
            <span className="ml-auto text-ink-3 tabular-nums">
              {by === "user" ? "" : `${by}, `}
              {formatDuration(took_ms)}
            </span>
          </button>
        </li>
      ))}
    </ol>
  );
}
