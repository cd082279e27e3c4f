import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import {
  type InputError,
  type InputValues,
  readInput,
  toValues,
} from "@/components/forms/schema/input-fields";
import { toApiError, useTrpc } from "@/components/trpc";
import type { Breakpoint } from "@/server/domain/agent/breakpoint/breakpoint";
import { type Limits, toLimits, withLimits } from "@/server/domain/agent/limits-form";
import { RunConfig } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import type { JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { Pins } from "@/server/domain/run/commands/pins";
import { breakpointsFor, breakpointsOf } from "../breakpoints/breakpoint-store";
import { readRejection } from "../read-rejection";
import { pinsFor, tryOutsOf } from "../try-out/try-out-store";
import { playsSlowly, watch } from "./demo-watch";
import { newIdempotencyKey } from "./idempotency";
import type { ReportedProblem, StartRefusal } from "./launch-problems";
import { rememberedInputs, rememberInput } from "./remembered-inputs";
import { exampleInput, inputFields } from "./run-form";

export interface LaunchProps {
  workflowId: string;
  graph: WorkflowGraph;
  name?: string | undefined;
  /** Runs before the start, e.g. to save the workflow. Returning false or throwing stops the start. */
  beforeStart?: (() => Promise<boolean | void>) | undefined;
  /** Shows a problem that stops the run; without it the problems are links to the editor. */
  onShowProblem?: ((problem: ReportedProblem) => void) | undefined;
  /** Started from the editor: pinned outputs apply. */
  isTrial?: boolean | undefined;
  /** The run pauses just before this node. */
  runTo?: string | null | undefined;
  /** Defaults to the last input that this browser ran the workflow with. */
  initialInput?: JsonObject | undefined;
  /** The run that `initialInput` comes from. */
  fromRun?: string | undefined;
  /** If the workflow never ran, start with its example input. */
  suggestsInput?: boolean | undefined;
}

/** What a person can change before the start. */
export interface RunDraft {
  values: InputValues;
  limits: Limits;
  mode: RunConfig["mode"];
  usesBreakpoints: boolean;
  usesPins: boolean;
}

export type Launch = ReturnType<typeof useLaunch>;

/** The draft of a run, what applies to it, and its start. */
export function useLaunch({
  workflowId,
  graph,
  beforeStart,
  initialInput,
  fromRun,
  suggestsInput = false,
  isTrial = false,
  runTo = null,
}: LaunchProps) {
  const fields = inputFields(graph);
  const config = graph.config ?? RunConfig.parse({});
  const [earlier] = useState(() => rememberedInputs(workflowId));
  const [pins] = useState(() => (isTrial ? pinsFor(tryOutsOf(workflowId).getState().pins, graph) : {}));
  const [breakpoints] = useState(() => breakpointsFor(breakpointsOf(workflowId).getState().list, graph));
  const [draft, setDraft] = useState<RunDraft>(() => ({
    values: toValues(fields, initialInput ?? earlier[0]?.input ?? (suggestsInput ? exampleInput(graph) : {})),
    limits: toLimits(config),
    mode: config.mode,
    usesBreakpoints: true,
    usesPins: true,
  }));
  const [errors, setErrors] = useState<readonly InputError[]>([]);
  // The same key until something is changed: however often it is clicked, the server starts one run.
  const [key, setKey] = useState(newIdempotencyKey);
  const { start, isPending, refusal } = useStart({ workflowId, beforeStart, onErrors: setErrors });

  const change = (patch: Partial<RunDraft>) => {
    setDraft({ ...draft, ...patch });
    setKey(newIdempotencyKey());
  };
  const submit = (chosen?: RunDraft["mode"]) => {
    const mode = chosen ?? draft.mode;
    const read = readInput(fields, draft.values);
    setErrors(read.errors);
    if (read.errors.length > 0) return;
    const options = startOptions({ ...draft, mode }, { config, breakpoints, pins, runTo });
    start(read.input, { ...options, ...defined({ from_run: fromRun }), idempotency_key: key });
  };
  return { fields, earlier, pins, breakpoints, draft, change, errors, setErrors, submit, isPending, refusal };
}

interface StartOptions {
  from_run?: string;
  config?: Partial<RunConfig>;
  pins?: Pins;
}

/** Only what differs from the workflow's own config. */
function startOptions(
  { limits, mode, usesBreakpoints, usesPins }: RunDraft,
  context: { config: RunConfig; breakpoints: Breakpoint[]; pins: Pins; runTo: string | null },
): StartOptions {
  const { config, breakpoints, pins, runTo } = context;
  const hasOwnLimits = JSON.stringify(limits) !== JSON.stringify(toLimits(config));
  const own: Partial<RunConfig> = {
    ...(hasOwnLimits ? withLimits(config, limits) : {}),
    ...defined({
      breakpoints: usesBreakpoints && breakpoints.length > 0 ? breakpoints : undefined,
      stop_at: runTo ?? undefined,
      mode: mode === config.mode ? undefined : mode,
    }),
  };
  return defined({
    config: Object.keys(own).length > 0 ? own : undefined,
    pins: usesPins && Object.keys(pins).length > 0 ? pins : undefined,
  });
}

/** Starts a run, then opens it. */
function useStart({
  workflowId,
  beforeStart,
  onErrors,
}: Pick<LaunchProps, "workflowId" | "beforeStart"> & {
  onErrors: (errors: readonly InputError[]) => void;
}) {
  const router = useRouter();
  const trpc = useTrpc();
  const queryClient = useQueryClient();
  const [refusal, setRefusal] = useState<StartRefusal | null>(null);
  const [isPreparing, setPreparing] = useState(false);
  const mutation = useMutation(
    trpc.runs.start.mutationOptions({
      onSuccess: ({ run_id }, { slow_demo }) => {
        if (slow_demo) watch(run_id);
        void queryClient.invalidateQueries(trpc.runs.list.pathFilter());
        router.push(`/workflows/${workflowId}/runs/${run_id}`);
      },
      onError: (error) => {
        const { message, problems, errors } = readRejection(error);
        onErrors(errors);
        setRefusal(errors.length > 0 && problems.length === 0 ? null : { message, problems });
      },
    }),
  );

  const start = (input: JsonObject, options: StartOptions & { idempotency_key: string }) => {
    setRefusal(null);
    setPreparing(true);
    void prepare(beforeStart).then((error) => {
      setPreparing(false);
      if (error !== null) {
        setRefusal({ message: error, problems: [] });
        return;
      }
      rememberInput(workflowId, input, Date.now());
      mutation.mutate({ workflow_id: workflowId, input, slow_demo: playsSlowly(), ...options });
    });
  };
  // After a success the page is about to change: the button stays busy until it does.
  return { start, isPending: isPreparing || mutation.isPending || mutation.isSuccess, refusal };
}

async function prepare(beforeStart: LaunchProps["beforeStart"]): Promise<string | null> {
  try {
    return (await beforeStart?.()) === false
      ? "Couldn't save the workflow, so the run didn't start. Try again."
      : null;
  } catch (error) {
    return toApiError(error).message;
  }
}
