"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { CircleAlert, History, Play, SlidersHorizontal } from "lucide-react";
import { useRouter } from "next/navigation";
import { type FormEvent, type KeyboardEvent, useState } from "react";
import { InputFields } from "@/components/forms/input-field";
import { type InputError, type InputValues, readInput, toValues } from "@/components/forms/input-fields";
import { toApiError, useTrpc } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Disclosure } from "@/components/ui/disclosure";
import { Kbd } from "@/components/ui/kbd";
import { Menu } from "@/components/ui/menu";
import { RunConfig } from "@/server/domain/agent/outcome";
import type { JsonObject } from "@/server/domain/base/values";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { Problem } from "@/server/domain/problems/problems";
import { AnsweredBy } from "./answered-by";
import { newIdempotencyKey } from "./idempotency";
import { type Limits, LimitsForm, toLimits, withLimits } from "./limits-form";
import { rememberedInputs, rememberInput, summarizeInput } from "./remembered-inputs";
import { inputFields } from "./run-form";

/** What is to be started, and what happens around it. */
export interface LaunchProps {
  workflowId: string;
  graph: WorkflowGraph;
  name?: string | undefined;
  /** Runs before the start, e.g. to save what is drawn; a false answer or a throw stops the start. */
  beforeStart?: (() => Promise<boolean | void>) | undefined;
  /** A person asked to see a problem that stops the run; without it the problems are links to the editor. */
  onShowProblem?: ((problem: Problem) => void) | undefined;
}

const FORM_ID = "run-form";

/** The sheet that asks for what a run needs, and starts it. */
export function LaunchDialog({
  workflowId,
  graph,
  name,
  beforeStart,
  onShowProblem,
  onClose,
}: LaunchProps & { onClose: () => void }) {
  const fields = inputFields(graph);
  const config = graph.config ?? RunConfig.parse({});
  const [earlier] = useState(() => rememberedInputs(workflowId));
  const [values, setValues] = useState(() => toValues(fields, earlier[0]?.input ?? {}));
  const [limits, setLimits] = useState<Limits>(() => toLimits(config));
  const [errors, setErrors] = useState<readonly InputError[]>([]);
  // The same key until something is changed: however often it is clicked, the server starts one run.
  const [key, setKey] = useState(newIdempotencyKey);
  const { start, isPending, refusal } = useStart({ workflowId, beforeStart, onErrors: setErrors });

  const change = (next: InputValues) => {
    setValues(next);
    setKey(newIdempotencyKey());
  };

  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    const read = readInput(fields, values);
    setErrors(read.errors);
    if (read.errors.length > 0) return;
    const hasOwnLimits = JSON.stringify(limits) !== JSON.stringify(toLimits(config));
    start(read.input, hasOwnLimits ? withLimits(config, limits) : undefined, key);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.stopPropagation();
    submit();
  };

  const problemsOf = (problem: Problem) => {
    onClose();
    onShowProblem?.(problem);
  };

  return (
    <Dialog
      open
      onOpenChange={(next) => next || onClose()}
      sticky
      title={name ? `Run ${name}` : "Run"}
      footer={
        <>
          <span className="mr-auto hidden items-center gap-2 text-xs text-ink-3 sm:flex">
            <Kbd keys="mod+Enter" /> starts it
          </span>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            type="submit"
            form={FORM_ID}
            variant="primary"
            icon={<Play aria-hidden />}
            pending={isPending}
          >
            Start
          </Button>
        </>
      }
    >
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
                onSelect: () => change(toValues(fields, input)),
              }))}
            />
          ) : null}
        </div>
        {refusal ? (
          <Refusal
            refusal={refusal}
            workflowId={workflowId}
            onShow={onShowProblem ? problemsOf : undefined}
          />
        ) : null}
        {fields.length === 0 ? (
          <p className="text-[13px] text-ink-2">This workflow asks for nothing. Just start it.</p>
        ) : null}
        <InputFields
          autoFocus
          {...{ fields, values, errors }}
          onChange={(next, left) => {
            change(next);
            setErrors(left);
          }}
        />
        {errors
          .filter(({ key }) => !fields.some((field) => field.key === key))
          .map(({ key, message }) => (
            <p key={key} role="alert" className="text-[13px] text-failed">
              {key}: {message}
            </p>
          ))}
        <Disclosure icon={<SlidersHorizontal aria-hidden />} title="Limits" aside={limitWordsOf(limits)}>
          <LimitsForm
            limits={limits}
            onChange={(next) => {
              setLimits(next);
              setKey(newIdempotencyKey());
            }}
          />
        </Disclosure>
      </form>
    </Dialog>
  );
}

interface StartRefusal {
  message: string;
  problems: readonly Problem[];
}

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
      onSuccess: ({ run_id }) => {
        void queryClient.invalidateQueries(trpc.runs.list.pathFilter());
        router.push(`/workflows/${workflowId}/runs/${run_id}`);
      },
      onError: (error) => {
        const { message, detail } = toApiError(error);
        const { problems = [], errors = [] } = (detail ?? {}) as {
          problems?: Problem[] | undefined;
          errors?: InputError[] | undefined;
        };
        onErrors(errors);
        setRefusal(errors.length > 0 && problems.length === 0 ? null : { message, problems });
      },
    }),
  );

  const start = (input: JsonObject, config: RunConfig | undefined, key: string) => {
    setRefusal(null);
    setPreparing(true);
    void prepare(beforeStart).then((trouble) => {
      setPreparing(false);
      if (trouble !== null) {
        setRefusal({ message: trouble, problems: [] });
        return;
      }
      rememberInput(workflowId, input, Date.now());
      mutation.mutate({
        workflow_id: workflowId,
        input,
        ...(config ? { config } : {}),
        idempotency_key: key,
      });
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

function Refusal({
  refusal,
  workflowId,
  onShow,
}: {
  refusal: StartRefusal;
  workflowId: string;
  onShow?: ((problem: Problem) => void) | undefined;
}) {
  return (
    <div
      role="alert"
      className="flex flex-col gap-2 rounded-lg border border-failed/35 bg-failed/6 px-3 py-2.5 text-[13px]"
    >
      <p className="flex gap-2 font-medium">
        <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-failed" />
        {refusal.message}
      </p>
      {refusal.problems.length > 0 ? (
        <ul className="flex flex-col gap-1 pl-6">
          {refusal.problems.map((problem) => (
            <li key={`${problem.code} ${problem.at.id ?? ""} ${problem.message}`}>
              {onShow ? (
                <button type="button" onClick={() => onShow(problem)} className={problemLook}>
                  {problem.message}
                </button>
              ) : (
                <a
                  href={`/workflows/${workflowId}${problem.at.id ? `?node=${encodeURIComponent(problem.at.id)}` : ""}`}
                  className={problemLook}
                >
                  {problem.message}
                </a>
              )}
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}

const problemLook = "text-left text-ink-2 underline-offset-2 hover:text-accent hover:underline";

function limitWordsOf(limits: Limits): string {
  const parts = [
    limits.max_cost_usd === null ? null : `$${limits.max_cost_usd}`,
    limits.max_total_tokens === null ? null : `${limits.max_total_tokens.toLocaleString("en-US")} tokens`,
    limits.minutes === null ? null : `${limits.minutes} min`,
  ];
  return parts.filter(Boolean).join(", ");
}
