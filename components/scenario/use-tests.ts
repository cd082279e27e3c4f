import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, useContext, useState } from "react";
import { countOf } from "@/components/display/format";
import { type Answers, toApiError, useTrpc, useTrpcClient } from "@/components/trpc";
import { toast } from "@/components/ui/toasts";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { SuiteReport } from "@/server/domain/scenario/report";
import { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import { type Money, moneyOf } from "./money-fields";

export type TestSummary = Answers["tests"]["list"][number];
export type WholeTest = Answers["tests"]["get"];
export type TestResult = Answers["tests"]["results"][number];

const showError = (error: unknown) => toast(toApiError(error).message, { tone: "error" });

/** A test without its revision and timestamps. */
export function scenarioOf({
  revision,
  created_at,
  updated_at,
  problems,
  ...test
}: Record<"revision" | "created_at" | "updated_at" | "problems", unknown>): ScenarioTest {
  return ScenarioTest.parse(test);
}

/** The tests of a workflow and their actions. Errors appear as toasts. */
export function useTests(workflowId: string) {
  const trpc = useTrpc();
  const client = useTrpcClient();
  const queryClient = useQueryClient();
  const list = useQuery(trpc.tests.list.queryOptions({ workflow_id: workflowId }));
  const [suite, setSuite] = useState<SuiteReport | null>(null);
  const refresh = () => queryClient.invalidateQueries(trpc.tests.pathFilter());

  const run = useMutation(
    trpc.tests.run.mutationOptions({
      onSuccess: (report, { tests }) => setSuite(tests ? null : report),
      onSettled: refresh,
      onError: showError,
    }),
  );
  const bringBack = async (test: ScenarioTest) => {
    try {
      await client.tests.create.mutate({ workflow_id: workflowId, ...test });
    } catch (error) {
      showError(error);
    }
    await refresh();
  };
  const remove = useMutation({
    mutationFn: async ({ id: test_id }: Pick<TestSummary, "id">) => {
      const test = await client.tests.get.query({ workflow_id: workflowId, test_id });
      await client.tests.remove.mutate({ workflow_id: workflowId, test_id });
      return scenarioOf(test);
    },
    onSuccess: (test) =>
      toast(`Deleted “${test.name}”`, {
        detail: "Its results were also deleted.",
        undo: () => void bringBack(test),
      }),
    onSettled: refresh,
    onError: showError,
  });
  const duplicate = useMutation({
    mutationFn: async ({ id: test_id }: Pick<TestSummary, "id">) => {
      const {
        id: _,
        name,
        ...test
      } = scenarioOf(await client.tests.get.query({ workflow_id: workflowId, test_id }));
      return client.tests.create.mutate({
        workflow_id: workflowId,
        ...test,
        name: `${name} copy`.slice(0, 200),
      });
    },
    onSuccess: ({ name }) => toast(`Created “${name}”`),
    onSettled: refresh,
    onError: showError,
  });

  return {
    list,
    /** The last report of running all tests here. */
    suite,
    running: run.isPending ? (run.variables.tests ?? "all") : null,
    runAll: () => run.mutate({ workflow_id: workflowId }),
    runReal: (money: Money) => run.mutate({ workflow_id: workflowId, ...moneyOf(money) }),
    runOne: (testId: string) => run.mutate({ workflow_id: workflowId, tests: [testId] }),
    remove: (test: Pick<TestSummary, "id">) => remove.mutateAsync(test),
    duplicate: (test: Pick<TestSummary, "id">) => duplicate.mutate(test),
  };
}
export type TestActions = ReturnType<typeof useTests>;

/** The workflow whose test is open, with what can be done with its tests. */
interface TestedWorkflow {
  workflowId: string;
  graph: WorkflowGraph;
  actions: TestActions;
}
export const TestedWorkflowContext = createContext<TestedWorkflow | null>(null);

export function useTestedWorkflow(): TestedWorkflow {
  const tested = useContext(TestedWorkflowContext);
  if (!tested) throw new Error("useTestedWorkflow must be used inside TestedWorkflowContext.");
  return tested;
}

export const isRunning = ({ running }: Pick<TestActions, "running">, testId: string): boolean =>
  running === "all" || (running?.includes(testId) ?? false);

export function answeredBy({ recorded_answers, simulated, pins }: TestSummary): string {
  if (recorded_answers !== null) return countOf(recorded_answers, "recorded answer");
  const demo = simulated ? "Demo model" : "";
  const pinned = pins > 0 ? countOf(pins, "pinned output") : "";
  return [demo, pinned].filter(Boolean).join(", ") || "No recordings";
}
