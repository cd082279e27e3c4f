"use client";

import { History, Play, SlidersHorizontal, StepForward } from "lucide-react";
import type { FormEvent, KeyboardEvent } from "react";
import { countOf, formatList } from "@/components/display/format";
import { FormParts } from "@/components/forms/form-parts";
import { InputFields } from "@/components/forms/schema/input-field";
import { toValues } from "@/components/forms/schema/input-fields";
import { ErrorText } from "@/components/page/error-text";
import { Button } from "@/components/ui/button";
import { Disclosure } from "@/components/ui/disclosure";
import { Select } from "@/components/ui/input/select";
import { Switch } from "@/components/ui/input/switch";
import { Kbd } from "@/components/ui/kbd";
import { Dialog } from "@/components/ui/overlay/dialog";
import { Menu } from "@/components/ui/overlay/menu";
import { Spinner } from "@/components/ui/spinner";
import type { Breakpoint } from "@/server/domain/agent/breakpoint/breakpoint";
import { type Limits, RUN_LIMITS } from "@/server/domain/agent/limits-form";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import type { Pins } from "@/server/domain/run/commands/pins";
import { breakpointTitle } from "../breakpoints/breakpoint-labels";
import { AnsweredBy } from "./answered-by";
import { Estimate } from "./estimate";
import { Refusal, type ReportedProblem, useProblems, Warnings } from "./launch-problems";
import { summarizeInput } from "./remembered-inputs";
import { RUN_MODES } from "./run-modes";
import { type Launch, type LaunchProps, useLaunch } from "./use-launch";

const FORM_ID = "run-form";

/** Asks for the input and options of a run, and starts it. */
export function LaunchDialog(props: LaunchProps & { onClose: () => void }) {
  const { workflowId, graph, name, beforeStart, onShowProblem, initialInput, runTo = null, onClose } = props;
  const launch = useLaunch(props);
  const problems = useProblems(workflowId, beforeStart);
  const blockers = problems?.filter(({ severity }) => severity === "error");
  const isReady = blockers?.length === 0;
  const goal = runTo === null ? null : graph.nodes[runTo]?.name || runTo;

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) launch.submit();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.stopPropagation();
    submit(event);
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
      description={goal !== null ? `Pauses just before ${goal}.` : undefined}
      footer={
        blockers && !isReady ? (
          <Button onClick={onClose}>Close</Button>
        ) : (
          <StartButtons launch={launch} isReady={isReady} onClose={onClose} />
        )
      }
    >
      {blockers === undefined ? (
        <p role="status" className="flex items-center gap-2 py-4 text-[13px] text-ink-2">
          <Spinner size={14} /> Checking workflow…
        </p>
      ) : isReady ? (
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
            <EarlierInputs launch={launch} />
          </div>
          {launch.refusal ? <Refusal refusal={launch.refusal} {...places} /> : null}
          <Warnings problems={problems} {...places} />
          <Input launch={launch} given={initialInput ?? {}} />
          <DebugSwitches launch={launch} graph={graph} />
          <Estimate workflowId={workflowId} />
          <Options launch={launch} />
        </form>
      ) : (
        <Refusal refusal={{ message: "", problems: blockers }} {...places} />
      )}
    </Dialog>
  );
}

function StartButtons({
  launch: { isPending, submit },
  isReady,
  onClose,
}: {
  launch: Launch;
  isReady: boolean;
  onClose: () => void;
}) {
  return (
    <>
      <span className="mr-auto hidden items-center gap-2 text-xs text-ink-3 sm:flex">
        <Kbd keys="mod+Enter" /> to start
      </span>
      <Button onClick={onClose}>Cancel</Button>
      <Button
        icon={<StepForward aria-hidden />}
        disabled={!isReady || isPending}
        title="Pauses before each node"
        onClick={() => submit("step")}
      >
        Run step by step
      </Button>
      <Button
        type="submit"
        form={FORM_ID}
        variant="primary"
        icon={<Play aria-hidden />}
        pending={isPending}
        disabled={!isReady}
      >
        Start
      </Button>
    </>
  );
}

/** Fills in an input that the workflow was run with before. */
function EarlierInputs({ launch: { earlier, fields, change } }: { launch: Launch }) {
  if (earlier.length === 0 || fields.length === 0) return null;
  return (
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
  );
}

/** The input fields. `given`: the input to start with; the workflow may no longer ask for all of it. */
function Input({
  launch: { fields, draft, change, errors, setErrors },
  given,
}: {
  launch: Launch;
  given: object;
}) {
  const isField = (key: string) => fields.some((field) => field.key === key);
  const ignored = Object.keys(given).filter((key) => !isField(key));
  return (
    <>
      {ignored.length > 0 ? (
        <p className="text-[13px] text-ink-2">
          The workflow no longer asks for {formatList(ignored)}. This input is ignored.
        </p>
      ) : null}
      {fields.length === 0 ? <p className="text-[13px] text-ink-2">This workflow needs no input.</p> : null}
      <InputFields
        autoFocus
        {...{ fields, values: draft.values, errors }}
        onChange={(values, remaining) => {
          change({ values });
          setErrors(remaining);
        }}
      />
      {errors
        .filter(({ key }) => !isField(key))
        .map(({ key, message }) => (
          <ErrorText key={key} error={`${key}: ${message}`} />
        ))}
    </>
  );
}

/** Whether the breakpoints and pinned outputs of the workflow apply. */
function DebugSwitches({
  launch: { breakpoints, pins, draft, change },
  graph,
}: {
  launch: Launch;
  graph: WorkflowGraph;
}) {
  const pinned = Object.keys(pins).length;
  return (
    <>
      {breakpoints.length > 0 ? (
        <Switch
          label={`Pause at ${countOf(breakpoints.length, "breakpoint")}`}
          hint={describeBreakpoints(breakpoints, graph)}
          checked={draft.usesBreakpoints}
          onCheckedChange={(isUsed) => change({ usesBreakpoints: isUsed })}
        />
      ) : null}
      {pinned > 0 ? (
        <Switch
          label={`Use ${pinned === 1 ? "the pinned output" : `${pinned} pinned outputs`}`}
          hint={`${pinnedNames(pins, graph)} won't run`}
          checked={draft.usesPins}
          onCheckedChange={(isUsed) => change({ usesPins: isUsed })}
        />
      ) : null}
    </>
  );
}

function Options({ launch: { draft, change } }: { launch: Launch }) {
  const { mode, limits } = draft;
  return (
    <>
      <Disclosure
        icon={<StepForward aria-hidden />}
        title="Run mode"
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
    </>
  );
}

/** The first few by name. */
function describeBreakpoints(breakpoints: readonly Breakpoint[], graph: WorkflowGraph): string {
  const names = breakpoints.slice(0, FEW).map((one) => breakpointTitle(one, graph));
  const left = breakpoints.length - names.length;
  return left > 0 ? `${names.join(", ")} and ${left} more` : names.join(", ");
}
const FEW = 3;

const pinnedNames = (pins: Pins, { nodes }: WorkflowGraph) =>
  formatList(Object.keys(pins).map((id) => nodes[id]?.name || id));

function describeLimits(limits: Limits): string {
  const parts = [
    limits.max_cost_usd === null ? null : `$${limits.max_cost_usd}`,
    limits.max_total_tokens === null ? null : `${limits.max_total_tokens.toLocaleString("en-US")} tokens`,
    limits.minutes === null ? null : `${limits.minutes} min`,
  ];
  return parts.filter(Boolean).join(", ");
}
