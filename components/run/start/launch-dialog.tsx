"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { History, Play, SlidersHorizontal, StepForward } from "lucide-react";
import { useRouter } from "next/navigation";
import { type FormEvent, type KeyboardEvent, useState } from "react";
import { countOf, formatList } from "@/components/display/format";
import { FormParts } from "@/components/forms/form-parts";
import { InputFields } from "@/components/forms/schema/input-field";
import {
  type InputError,
  type InputValues,
  readInput,
  toValues,
} from "@/components/forms/schema/input-fields";
import { ErrorText } from "@/components/page/error-text";
import { toApiError, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Disclosure } from "@/components/ui/disclosure";
import { Select } from "@/components/ui/input/select";
import { Switch } from "@/components/ui/input/switch";
import { Kbd } from "@/components/ui/kbd";
import { Dialog } from "@/components/ui/overlay/dialog";
import { Menu } from "@/components/ui/overlay/menu";
import { Spinner } from "@/components/ui/spinner";
import type { Breakpoint } from "@/server/domain/agent/breakpoint/breakpoint";
import { type Limits, RUN_LIMITS, toLimits, withLimits } from "@/server/domain/agent/limits-form";
import { RunConfig } from "@/server/domain/agent/outcome";
import { defined } from "@/server/domain/base/defined";
import type { JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { Pins } from "@/server/domain/run/commands/pins";
import { breakpointTitle } from "../breakpoints/breakpoint-labels";
import { breakpointsFor, breakpointsOf } from "../breakpoints/breakpoint-store";
import { readRejection } from "../read-rejection";
import { pinsFor, tryOutsOf } from "../try-out/try-out-store";
import { AnsweredBy } from "./answered-by";
import { playsSlowly, watch } from "./demo-watch";
import { Estimate } from "./estimate";
import { newIdempotencyKey } from "./idempotency";
import { Refusal, type ReportedProblem, type StartRefusal, useProblems, Warnings } from "./launch-problems";
import { rememberedInputs, rememberInput, summarizeInput } from "./remembered-inputs";
import { exampleInput, inputFields } from "./run-form";
import { RUN_MODES } from "./run-modes";

/** What is to be started, and what happens around it. */
export interface LaunchProps {
  workflowId: string;
  graph: WorkflowGraph;
  name?: string | undefined;
  /** Runs before the start, e.g. to save what is drawn; a false answer or a throw stops the start. */
  beforeStart?: (() => Promise<boolean | void>) | undefined;
  /** A person asked to see a problem that stops the run; without it the problems are links to the editor. */
  onShowProblem?: ((problem: ReportedProblem) => void) | undefined;
  /** It is started beside the drawing: what is pinned there counts. */
  isTrial?: boolean | undefined;
  /** It is to be paused just before this node. */
  runTo?: string | null | undefined;
  /** What the form holds at first; absent: what the workflow was run with last from this browser. */
  initialInput?: JsonObject | undefined;
  /** If the workflow never ran, the form contains the input that it suggests. */
  suggestsInput?: boolean | undefined;
}

const FORM_ID = "run-form";

interface RunDraft {
  values: InputValues;
  limits: Limits;
  mode: RunConfig["mode"];
  usesBreakpoints: boolean;
  usesPins: boolean;
}

/** The sheet that asks for what a run needs, and starts it. */
export function LaunchDialog({
  workflowId,
  graph,
  name,
  beforeStart,
  onShowProblem,
  initialInput,
  suggestsInput = false,
  isTrial = false,
  runTo = null,
  onClose,
}: LaunchProps & { onClose: () => void }) {
  const fields = inputFields(graph);
  const left = Object.keys(initialInput ?? {}).filter((key) => !fields.some((field) => field.key === key));
  const config = graph.config ?? RunConfig.parse({});
  const [earlier] = useState(() => rememberedInputs(workflowId));
  const [draft, setDraft] = useState<RunDraft>(() => ({
    values: toValues(fields, initialInput ?? earlier[0]?.input ?? (suggestsInput ? exampleInput(graph) : {})),
    limits: toLimits(config),
    mode: config.mode,
    usesBreakpoints: true,
    usesPins: true,
  }));
  const { values, limits, mode, usesBreakpoints, usesPins } = draft;
  const [errors, setErrors] = useState<readonly InputError[]>([]);
  // The same key until something is changed: however often it is clicked, the server starts one run.
  const [key, setKey] = useState(newIdempotencyKey);
  const change = (patch: Partial<RunDraft>) => {
    setDraft({ ...draft, ...patch });
    setKey(newIdempotencyKey());
  };
  const { start, isPending, refusal } = useStart({ workflowId, beforeStart, onErrors: setErrors });

  const problems = useProblems(workflowId, beforeStart);
  const blockers = problems?.filter(({ severity }) => severity === "error");
  const isBlocked = blockers !== undefined && blockers.length > 0;

  const [pins] = useState(() => (isTrial ? pinsFor(tryOutsOf(workflowId).getState().pins, graph) : {}));
  const [breakpoints] = useState(() => breakpointsFor(breakpointsOf(workflowId).getState().list, graph));
  const goal = runTo === null ? null : graph.nodes[runTo]?.name || runTo;
  const pinned = Object.keys(pins).length;

  const submit = (event?: FormEvent, as = mode) => {
    event?.preventDefault();
    if (isBlocked || blockers === undefined) return;
    const read = readInput(fields, values);
    setErrors(read.errors);
    if (read.errors.length > 0) return;
    const hasOwnLimits = JSON.stringify(limits) !== JSON.stringify(toLimits(config));
    const own: Partial<RunConfig> = {
      ...(hasOwnLimits ? withLimits(config, limits) : {}),
      ...defined({
        breakpoints: usesBreakpoints && breakpoints.length > 0 ? breakpoints : undefined,
        stop_at: runTo ?? undefined,
        mode: as === config.mode ? undefined : as,
      }),
    };
    start(read.input, {
      ...defined({
        config: Object.keys(own).length > 0 ? own : undefined,
        pins: pinned > 0 && usesPins ? pins : undefined,
      }),
      idempotency_key: key,
    });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.stopPropagation();
    submit();
  };

  const places = {
    workflowId,
    graph,
    onShow:
      onShowProblem &&
      ((problem: ReportedProblem) => {
        onClose();
        onShowProblem(problem);
      }),
  };

  return (
    <Dialog
      open
      onOpenChange={(next) => next || onClose()}
      sticky
      title={goal !== null ? `Run to ${goal}` : name ? `Run ${name}` : "Run"}
      description={goal !== null ? `It is paused just before ${goal}.` : undefined}
      footer={
        isBlocked ? (
          <Button onClick={onClose}>Close</Button>
        ) : (
          <>
            <span className="mr-auto hidden items-center gap-2 text-xs text-ink-3 sm:flex">
              <Kbd keys="mod+Enter" /> starts it
            </span>
            <Button onClick={onClose}>Cancel</Button>
            <Button
              icon={<StepForward aria-hidden />}
              disabled={blockers === undefined || isPending}
              title="It is paused before each node, and goes on when you say so"
              onClick={() => submit(undefined, "step")}
            >
              Run step by step
            </Button>
            <Button
              type="submit"
              form={FORM_ID}
              variant="primary"
              icon={<Play aria-hidden />}
              pending={isPending}
              disabled={blockers === undefined}
            >
              Start
            </Button>
          </>
        )
      }
    >
      {blockers === undefined ? (
        <p role="status" className="flex items-center gap-2 py-4 text-[13px] text-ink-2">
          <Spinner size={14} /> Looking whether it can run
        </p>
      ) : isBlocked ? (
        <Refusal refusal={{ message: "", problems: blockers }} {...places} />
      ) : (
        <form
          id={FORM_ID}
          noValidate
          onSubmit={submit}
          onKeyDown={onKeyDown}
          className="flex flex-col gap-5 pt-1"
        >
          <div className="flex flex-wrap items-center gap-2">
            <div className="min-w-0 flex-1">
              <AnsweredBy graph={graph} />
            </div>
            {earlier.length > 0 && fields.length > 0 ? (
              <Menu
                align="end"
                trigger={
                  <Button size="sm" variant="ghost" icon={<History aria-hidden />}>
                    Earlier inputs
                  </Button>
                }
                items={earlier.map(({ input, at }) => ({
                  label: summarizeInput(input),
                  hint: new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }),
                  onSelect: () => change({ values: toValues(fields, input) }),
                }))}
              />
            ) : null}
          </div>
          {refusal ? <Refusal refusal={refusal} {...places} /> : null}
          <Warnings problems={problems} {...places} />
          {left.length > 0 ? (
            <p className="text-[13px] text-ink-2">
              The workflow does not ask for {formatList(left)} any more, so that is left out.
            </p>
          ) : null}
          {fields.length === 0 ? (
            <p className="text-[13px] text-ink-2">This workflow asks for nothing. Just start it.</p>
          ) : null}
          <InputFields
            autoFocus
            {...{ fields, values, errors }}
            onChange={(next, remaining) => {
              change({ values: next });
              setErrors(remaining);
            }}
          />
          {errors
            .filter((error) => !fields.some((field) => field.key === error.key))
            .map((error) => (
              <ErrorText key={error.key} error={`${error.key}: ${error.message}`} />
            ))}
          {breakpoints.length > 0 ? (
            <Switch
              label={`Hold at ${countOf(breakpoints.length, "breakpoint")}`}
              hint={describeBreakpoints(breakpoints, graph)}
              checked={usesBreakpoints}
              onCheckedChange={(isUsed) => change({ usesBreakpoints: isUsed })}
            />
          ) : null}
          {pinned > 0 ? (
            <Switch
              label={`Use ${pinned === 1 ? "the pinned output" : `${pinned} pinned outputs`}`}
              hint={`${pinnedNames(pins, graph)} ${pinned === 1 ? "is" : "are"} not carried out then`}
              checked={usesPins}
              onCheckedChange={(isUsed) => change({ usesPins: isUsed })}
            />
          ) : null}
          <Estimate workflowId={workflowId} />
          <Disclosure
            icon={<StepForward aria-hidden />}
            title="How it goes on"
            aside={RUN_MODES.find(({ value }) => value === mode)?.label}
          >
            <Select
              label="Mode"
              options={RUN_MODES}
              value={mode}
              onValueChange={(next) => change({ mode: next })}
            />
          </Disclosure>
          <Disclosure icon={<SlidersHorizontal aria-hidden />} title="Limits" aside={describeLimits(limits)}>
            <div className="flex flex-col gap-4">
              <FormParts parts={RUN_LIMITS} value={limits} onChange={(next) => change({ limits: next })} />
            </div>
          </Disclosure>
        </form>
      )}
    </Dialog>
  );
}

/** What a run is started with beside its input. */
interface StartWith {
  config?: Partial<RunConfig>;
  pins?: Pins;
  idempotency_key: string;
}

/** The first few of them. */
function describeBreakpoints(breakpoints: readonly Breakpoint[], graph: WorkflowGraph): string {
  const names = breakpoints.slice(0, FEW).map((one) => breakpointTitle(one, graph));
  const left = breakpoints.length - names.length;
  return left > 0 ? `${names.join(", ")} and ${left} more` : names.join(", ");
}
const FEW = 3;

const pinnedNames = (pins: Pins, { nodes }: WorkflowGraph) =>
  formatList(Object.keys(pins).map((id) => nodes[id]?.name || id));

/** Starts a run once, however often it is asked to, and opens it. */
function useStart({
  workflowId,
  beforeStart,
  onErrors,
}: {
  workflowId: string;
  beforeStart?: (() => Promise<boolean | void>) | undefined;
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

  const start = (input: JsonObject, rest: StartWith) => {
    setRefusal(null);
    setPreparing(true);
    void prepare(beforeStart).then((error) => {
      setPreparing(false);
      if (error !== null) {
        setRefusal({ message: error, problems: [] });
        return;
      }
      rememberInput(workflowId, input, Date.now());
      mutation.mutate({ workflow_id: workflowId, input, slow_demo: playsSlowly(), ...rest });
    });
  };
  // After a success the page is about to change: the button stays busy until it does.
  return { start, isPending: isPreparing || mutation.isPending || mutation.isSuccess, refusal };
}

async function prepare(beforeStart: LaunchProps["beforeStart"]): Promise<string | null> {
  try {
    return (await beforeStart?.()) === false
      ? "The workflow could not be saved, so it was not started."
      : null;
  } catch (error) {
    return toApiError(error).message;
  }
}

function describeLimits(limits: Limits): string {
  const parts = [
    limits.max_cost_usd === null ? null : `$${limits.max_cost_usd}`,
    limits.max_total_tokens === null ? null : `${limits.max_total_tokens.toLocaleString("en-US")} tokens`,
    limits.minutes === null ? null : `${limits.minutes} min`,
  ];
  return parts.filter(Boolean).join(", ");
}
