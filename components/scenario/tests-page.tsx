"use client";

import { useQuery } from "@tanstack/react-query";
import { ChevronDown, Columns3, FlaskConical, Pencil, Play, Plus } from "lucide-react";
import dynamic from "next/dynamic";
import { useRouter, useSearchParams } from "next/navigation";
import { useEffect, useMemo, useRef, useState } from "react";
import { countOf } from "@/components/display/format";
import { FormDialog } from "@/components/forms/form-dialog";
import { LoadError, PageError } from "@/components/page/error-text";
import { leaveTo } from "@/components/page/leaving";
import { Page } from "@/components/page/page";
import { type ShellCommand, useShellCommands } from "@/components/page/page-commands";
import { usePageTitle } from "@/components/page/page-title";
import { useTrpc } from "@/components/trpc";
import { Button, ButtonLink } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { IconButton } from "@/components/ui/icon-button";
import { Menu } from "@/components/ui/overlay/menu";
import { useDialog } from "@/components/ui/overlay/use-dialog";
import { Skeleton } from "@/components/ui/skeleton";
import { formatDollars } from "@/server/domain/model/cost";
import type { SuiteReport } from "@/server/domain/scenario/report";
import { isWhole, type Money, MoneyFields } from "./money-fields";
import { TestTable, testAddress } from "./test-table";
import { type TestActions, useTests } from "./use-tests";

const CompareDialog = dynamic(() => import("./comparison-dialog").then((module) => module.CompareDialog), {
  ssr: false,
});
const TestSheet = dynamic(() => import("./test-sheet").then((module) => module.TestSheet), { ssr: false });

/** The tests of a workflow: /workflows/{id}/tests, with one of them open by ?test=…, a new one by ?new, all run by ?run. */
export function TestsPage({ workflowId }: { workflowId: string }) {
  const workflow = useQuery(useTrpc().workflows.get.queryOptions({ id: workflowId }));
  const actions = useTests(workflowId);
  const router = useRouter();
  const asked = useSearchParams();
  const isNew = asked.has("new");
  const open = asked.get("test");
  const { data, error } = workflow;
  usePageTitle(data ? `Tests for ${data.name}` : null);
  const tests = actions.list.data ?? [];
  const comparison = useDialog((close) =>
    data ? <CompareDialog workflowId={workflowId} graph={data.graph} tests={tests} onClose={close} /> : null,
  );
  const realRun = useDialog((close) => (
    <RealRunDialog count={tests.length} onRun={actions.runReal} onClose={close} />
  ));
  useTestCommands(workflowId, actions, comparison.open);
  useRunWhenAsked(workflowId, actions, asked.has("run"));
  if (error)
    return (
      <PageError
        icon={<FlaskConical />}
        title="Couldn't load tests"
        error={error}
        back={{ href: "/", label: "All workflows" }}
      />
    );
  return (
    <Page
      title="Tests"
      description={data ? `Regression tests for ${data.name}.` : " "}
      actions={
        <Actions
          workflowId={workflowId}
          tests={actions}
          onCompare={data && comparison.open}
          onRunReal={realRun.open}
        />
      }
    >
      <div className="flex min-w-0 flex-col gap-4">
        <p role="status" className="text-[13px] text-ink-2 empty:hidden">
          {suiteStatus(actions)}
        </p>
        <List workflowId={workflowId} actions={actions} />
      </div>
      {comparison.dialog}
      {realRun.dialog}
      {data && (isNew || open !== null) ? (
        <TestSheet
          key={open ?? "new"}
          workflowId={workflowId}
          graph={data.graph}
          testId={isNew ? null : open}
          actions={actions}
          onClose={() => leaveTo(() => router.push(`/workflows/${workflowId}/tests`, { scroll: false }))}
          onCreated={(id) => router.replace(testAddress(workflowId, id), { scroll: false })}
        />
      ) : null}
    </Page>
  );
}

function List({ workflowId, actions }: { workflowId: string; actions: TestActions }) {
  const { data, error } = actions.list;
  if (error && !data) return <LoadError what="tests" queries={[actions.list]} />;
  if (!data)
    return (
      <div aria-busy="true" className="flex flex-col gap-2">
        <span className="sr-only">Loading</span>
        <Skeleton className="h-14" />
        <Skeleton className="h-14" />
      </div>
    );
  if (data.length === 0)
    return (
      <EmptyState
        icon={<FlaskConical />}
        title="No tests yet"
        actions={
          <>
            <ButtonLink href={`/workflows/${workflowId}/runs`}>View runs</ButtonLink>
            <ButtonLink href={testAddress(workflowId, null)}>Write test</ButtonLink>
          </>
        }
      >
        Save a good run as a test to check future versions against it, or write a test.
      </EmptyState>
    );
  return <TestTable workflowId={workflowId} tests={data} actions={actions} />;
}

export function suiteSummary({ passed, failed, not_run }: SuiteReport): string {
  const parts = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(not_run > 0 ? [`${not_run} couldn't run`] : []),
    ...(passed > 0 ? [`${passed} passed`] : []),
  ];
  const all = passed + failed + not_run;
  return failed + not_run === 0 && all > 0
    ? `${all === 1 ? "The test passed" : `All ${countOf(all, "test")} passed`}.`
    : `${parts.join(", ")}.`;
}

function suiteStatus({ running, suite }: TestActions): string {
  if (running === "all") return "Running tests…";
  return suite ? suiteSummary(suite) + spendingText(suite) : "";
}

const spendingText = ({ spending }: SuiteReport): string =>
  spending
    ? ` ${spending.spent_usd === null ? "Amount spent is unknown." : `Spent ${formatDollars(spending.spent_usd)}.`}${spending.stopped === null ? "" : ` ${spending.stopped}`}`
    : "";

/** Runs all tests once if the address has `?run`, and removes it from the address. */
function useRunWhenAsked(workflowId: string, { runAll }: TestActions, isAsked: boolean) {
  const router = useRouter();
  const latest = useRef(runAll);
  const isDone = useRef(false);
  useEffect(() => {
    latest.current = runAll;
  });
  useEffect(() => {
    if (!isAsked) {
      isDone.current = false;
      return;
    }
    if (isDone.current) return;
    isDone.current = true;
    latest.current();
    router.replace(`/workflows/${workflowId}/tests`, { scroll: false });
  }, [isAsked, router, workflowId]);
}

function Actions({
  workflowId,
  tests: { list, running, runAll },
  onCompare,
  onRunReal,
}: {
  workflowId: string;
  tests: TestActions;
  /** Undefined while the workflow loads. */
  onCompare: (() => void) | undefined;
  onRunReal: () => void;
}) {
  return (
    <>
      <ButtonLink href={`/workflows/${workflowId}`} icon={<Pencil aria-hidden />}>
        Edit workflow
      </ButtonLink>
      <Button icon={<Columns3 aria-hidden />} disabled={!onCompare} onClick={onCompare}>
        Compare
      </Button>
      <ButtonLink href={testAddress(workflowId, null)} icon={<Plus aria-hidden />}>
        New test
      </ButtonLink>
      {list.data?.length ? (
        <>
          <Button
            variant="primary"
            icon={<Play aria-hidden />}
            pending={running === "all"}
            disabled={running !== null}
            onClick={runAll}
          >
            Run all
          </Button>
          <Menu
            align="end"
            trigger={<IconButton label="More run options" icon={<ChevronDown aria-hidden />} />}
            items={[
              {
                label: "Run with real models…",
                icon: <Play />,
                disabled: running !== null,
                onSelect: onRunReal,
              },
            ]}
          />
        </>
      ) : null}
    </>
  );
}

/** What the command palette offers here. */
function useTestCommands(workflowId: string, { runAll }: TestActions, compare: () => void) {
  const router = useRouter();
  const commands = useMemo(
    (): ShellCommand[] => [
      { id: "run tests", label: "Run all tests", section: "These tests", run: runAll },
      {
        id: "new test",
        label: "New test",
        section: "These tests",
        run: () => router.push(testAddress(workflowId, null)),
      },
      { id: "compare", label: "Compare variants", section: "These tests", run: compare },
      {
        id: "edit workflow",
        label: "Edit workflow",
        section: "These tests",
        run: () => router.push(`/workflows/${workflowId}`),
      },
    ],
    [workflowId, router, runAll, compare],
  );
  useShellCommands("tests", commands);
}

function RealRunDialog({
  count,
  onRun,
  onClose,
}: {
  /** How many tests. */
  count: number;
  onRun: (money: Money) => void;
  onClose: () => void;
}) {
  const [money, setMoney] = useState<Money>({ real: true, most: 1 });
  return (
    <FormDialog
      size="sm"
      title="Run with real models"
      description={`Runs ${countOf(count, "test")} with the workflow's models and judges instead of recordings. Tools still have no external effects.`}
      submit="Run"
      isIncomplete={!isWhole(money)}
      onSubmit={() => {
        onRun(money);
        onClose();
      }}
      onClose={onClose}
    >
      <MoneyFields canBeOff={false} money={money} onChange={setMoney} />
    </FormDialog>
  );
}
