"use client";

import { Copy, FlaskConical, Play, Trash2 } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { countOf } from "@/components/display/format";
import { TestMark } from "@/components/display/test-mark";
import { IconButton } from "@/components/ui/icon-button";
import { MoreMenu } from "@/components/ui/overlay/more-menu";
import { SimulatedBadge } from "@/components/ui/simulated-badge";
import { TimeText } from "@/components/ui/time-text";
import { answeredBy, isRunning, type TestActions, type TestSummary } from "./use-tests";

/** The tests of a workflow, each with its last result. */
export function TestTable({
  workflowId,
  tests,
  actions,
}: {
  workflowId: string;
  tests: readonly TestSummary[];
  actions: TestActions;
}) {
  return (
    <div className="overflow-hidden rounded-xl border border-line bg-surface">
      <table aria-label="Tests" className="w-full table-fixed text-left text-sm max-md:block">
        <thead className="border-b border-line text-xs text-ink-3 max-md:sr-only">
          <tr>
            <th scope="col" className="px-4 py-2 font-medium">
              Test
            </th>
            <th scope="col" className="w-34 px-2 py-2 font-medium">
              Last result
            </th>
            <th scope="col" className="w-32 px-2 py-2 font-medium">
              Expectations
            </th>
            <th scope="col" className="w-48 px-2 py-2 font-medium">
              Answered by
            </th>
            <th scope="col" className="w-32 px-2 py-2 font-medium">
              Last run
            </th>
            <th scope="col" className="w-24 px-2 py-2">
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line max-md:block">
          {tests.map((test) => (
            <Row key={test.id} workflowId={workflowId} test={test} actions={actions} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ workflowId, test, actions }: { workflowId: string; test: TestSummary; actions: TestActions }) {
  const { id, name, last, problems } = test;
  const [problem] = problems;
  return (
    <tr className="hover:bg-ink/2.5 max-md:relative max-md:flex max-md:flex-wrap max-md:items-center max-md:gap-x-3 max-md:gap-y-1 max-md:py-3 max-md:pr-24 max-md:pl-4">
      <th scope="row" className="min-w-0 px-4 py-2.5 font-normal max-md:w-full max-md:p-0">
        <Link
          href={testAddress(workflowId, id)}
          className="block truncate rounded-md font-medium hover:underline hover:underline-offset-2"
        >
          {name}
        </Link>
        {problem ? (
          <p className="text-[13px] text-failed [overflow-wrap:anywhere]">
            {problem}
            {problems.length > 1 ? ` And ${problems.length - 1} more.` : ""}
          </p>
        ) : null}
      </th>
      <td className="px-2 py-2.5 max-md:p-0">
        <TestMark status={last ? last.status : "never"} withWord />
      </td>
      <td className="px-2 py-2.5 text-[13px] text-ink-2 tabular-nums max-md:p-0">{expectationCount(test)}</td>
      <td className="px-2 py-2.5 text-[13px] text-ink-2 max-md:p-0">
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
          {last?.simulated ? <SimulatedBadge /> : null}
          {last?.simulated && test.recorded_answers === null ? null : answeredBy(test)}
        </span>
      </td>
      <td className="px-2 py-2.5 text-[13px] text-ink-2 max-md:p-0">
        {last ? <TimeText at={last.at} /> : <span className="max-md:hidden">–</span>}
      </td>
      <td className="px-2 py-2.5 max-md:absolute max-md:top-2 max-md:right-2 max-md:p-0">
        <span className="flex justify-end gap-1">
          <IconButton
            size="sm"
            label={`Run ${name}`}
            icon={<Play aria-hidden />}
            pending={isRunning(actions, id)}
            disabled={actions.running !== null}
            onClick={() => actions.runOne(id)}
          />
          <RowMenu workflowId={workflowId} test={test} actions={actions} />
        </span>
      </td>
    </tr>
  );
}

const expectationCount = ({ expectations, last }: TestSummary): string =>
  last && last.expected > 0
    ? `${last.passed} of ${last.expected} passed`
    : expectations > 0
      ? countOf(expectations, "expectation")
      : "Completes";

function RowMenu({
  workflowId,
  test,
  actions,
}: {
  workflowId: string;
  test: TestSummary;
  actions: TestActions;
}) {
  const router = useRouter();
  return (
    <MoreMenu
      label={`Actions for ${test.name}`}
      size="sm"
      items={[
        {
          label: "Open",
          icon: <FlaskConical />,
          onSelect: () => router.push(testAddress(workflowId, test.id)),
        },
        { label: "Duplicate", icon: <Copy />, onSelect: () => actions.duplicate(test) },
        "separator",
        {
          label: "Delete",
          icon: <Trash2 />,
          danger: true,
          // The action shows its own errors.
          onSelect: () => void actions.remove(test).catch(() => undefined),
        },
      ]}
    />
  );
}

/** The address that opens a test; null: a new one. */
export const testAddress = (workflowId: string, testId: string | null): string =>
  `/workflows/${workflowId}/tests?${testId === null ? "new" : `test=${encodeURIComponent(testId)}`}`;
