"use client";

import dynamic from "next/dynamic";
import { useMemo, useState } from "react";
import { Costs } from "@/components/run/crew/costs";
import { Disclosure } from "@/components/ui/disclosure";
import { SegmentedControl } from "@/components/ui/input/segmented-control";
import { CopyButton, JsonView } from "@/components/ui/json-view";
import { SimulatedBadge } from "@/components/ui/simulated-badge";
import { Spinner } from "@/components/ui/spinner";
import type { Json, JsonObject } from "@/server/domain/base/values";
import type { ModelCall, RunState } from "@/server/domain/run";
import { resultOf } from "@/server/domain/run/result";
import { KeepButton } from "../keep/keep-button";
import { useRun, useRunList, useRunViewStore } from "../run-context";
import { useRunPage } from "../run-page-context";
import { KeyValues } from "../values";
import { type FileEvent, FileList } from "./file-list";
import { Outcome } from "./outcome";
import { StaleOutputs } from "./stale-note";

const NOTHING: JsonObject = {};

/** What the run came to: its result first, or why there is none and what can be done; the rest folded below. */
export function ResultView() {
  const run = useRun<RunState["run"] | undefined>(({ state }) => state.run, undefined);
  const input = useRun<JsonObject>(({ state }) => state.input, NOTHING);
  const page = useRunPage();
  const files = useRunList<FileEvent>(({ state }) =>
    Object.values(state.files).filter(({ kind }) => kind === "file"),
  );
  const calls = useRunList<ModelCall>(({ state }) => Object.values(state.calls));
  if (!run) return null;
  const isOver = run.status === "finished";
  return (
    <div className="flex flex-col gap-4 p-4">
      <Outcome />
      {isOver ? <Result /> : null}
      {run.final_status === "COMPLETED" ? <KeepButton /> : null}
      {isOver ? <StaleOutputs /> : null}
      {files.length > 0 && page ? <FileList title="Files" files={files} onPath={page.openFile} /> : null}
      <div className="flex flex-col gap-1">
        {Object.keys(input).length > 0 ? (
          <Disclosure title="Input">
            <KeyValues values={input} label="run input" />
          </Disclosure>
        ) : null}
        <RestOfState />
        {calls.length > 0 ? (
          <Disclosure title="Tokens and cost">
            <Costs calls={calls} />
          </Disclosure>
        ) : null}
      </div>
    </div>
  );
}

/** The result as of the cursor; the output changes only with the end of the run. */
function useResult() {
  const store = useRunViewStore();
  const output = useRun<JsonObject | undefined>(({ state }) => state.run.output, undefined);
  // The run's state changes in place, but what this reads is final once there is an output.
  return useMemo(
    () => (store && output ? resultOf(store.view.getState().state) : { main: NOTHING, rest: NOTHING }),
    [store, output],
  );
}

function Result() {
  const { main } = useResult();
  const isCompleted = useRun(({ state }) => state.run.final_status === "COMPLETED", false);
  const isSimulated = useRun(({ state }) => state.run.simulated, false);
  const [view, setView] = useState<"read" | "json">("read");
  const entries = Object.entries(main);
  if (entries.length === 0)
    return isCompleted ? <p className="text-[13px] text-ink-2">The run returned no output.</p> : null;
  const [only] = entries.length === 1 ? entries : [];
  const text = only && typeof only[1] === "string" ? only[1] : JSON.stringify(main, null, 2);
  return (
    <section
      aria-label={isCompleted ? "Result" : "Partial result"}
      className="flex flex-col gap-3 rounded-xl border border-line bg-raised px-4 py-3 shadow-1"
    >
      <header className="flex items-center gap-2">
        <h2 className="min-w-0 flex-1 truncate text-[13px] font-semibold text-ink-2">
          {isCompleted ? (only ? nameOfKey(only[0]) : "Result") : "Partial result"}
        </h2>
        {isSimulated ? <SimulatedBadge /> : null}
        <SegmentedControl
          label="Result view"
          size="sm"
          value={view}
          onValueChange={setView}
          options={[
            { value: "read", label: "Formatted" },
            { value: "json", label: "JSON" },
          ]}
        />
        <CopyButton text={text} label="Copy result" />
      </header>
      {view === "json" ? (
        <JsonView value={main} label="result as JSON" openDepth={4} />
      ) : only ? (
        <ResultValue value={only[1]} label={nameOfKey(only[0])} />
      ) : (
        <dl className="flex flex-col divide-y divide-line">
          {entries.map(([key, value]) => (
            <div key={key} className="min-w-0 py-2.5 first:pt-0 last:pb-0">
              <dt className="mb-1 text-xs font-semibold text-ink-2">{nameOfKey(key)}</dt>
              <dd className="min-w-0">
                <ResultValue value={value} label={nameOfKey(key)} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

/** What the run handed out besides its result. */
function RestOfState() {
  const { rest } = useResult();
  const input = useRun<JsonObject>(({ state }) => state.input, NOTHING);
  const others = Object.fromEntries(Object.entries(rest).filter(([key]) => !Object.hasOwn(input, key)));
  if (Object.keys(others).length === 0) return null;
  return (
    <Disclosure title="Other state" aside={Object.keys(others).join(", ")}>
      <KeyValues values={others} label="other state" />
    </Disclosure>
  );
}

const Markdown = dynamic(() => import("@/components/display/markdown").then((module) => module.Markdown), {
  loading: () => <Spinner size={16} label="Loading" />,
});

/** A value of a result, to be read: texts as Markdown, rows as a table, objects as fields, anything else as JSON. */
function ResultValue({ value, label }: { value: Json; label: string }) {
  if (typeof value === "string")
    return value.trim() === "" ? (
      <span className="text-[13px] text-ink-3">Empty text</span>
    ) : (
      <Markdown text={value} keepsLines />
    );
  if (value === null || typeof value !== "object") return <p className="text-[15px]">{plainWord(value)}</p>;
  const rows = asRows(value);
  if (rows) return <Table rows={rows} label={label} />;
  if (isReadable(value)) return <Fields of={value} label={label} />;
  return <JsonView value={value} label={label} openDepth={3} />;
}

function Fields({ of, label }: { of: JsonObject; label: string }) {
  return (
    <dl aria-label={label} className="grid grid-cols-[minmax(5rem,auto)_minmax(0,1fr)] gap-x-4 gap-y-1.5">
      {Object.entries(of).map(([key, value]) => (
        <div key={key} className="contents">
          {isPlainObject(value) ? (
            <>
              <dt className="col-span-2 pt-px text-[13px] text-ink-2">{nameOfKey(key)}</dt>
              <dd className="col-span-2 min-w-0 border-l border-line pl-3">
                <Fields of={value} label={nameOfKey(key)} />
              </dd>
            </>
          ) : (
            <>
              <dt className="pt-px text-[13px] text-ink-2">{nameOfKey(key)}</dt>
              <dd className="min-w-0 text-[13px] [overflow-wrap:anywhere]">
                {Array.isArray(value) ? value.map(plainWord).join(", ") || "None" : plainWord(value)}
              </dd>
            </>
          )}
        </div>
      ))}
    </dl>
  );
}

function Table({ rows, label }: { rows: readonly JsonObject[]; label: string }) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    <section tabIndex={0} aria-label={label} className="max-h-[70vh] overflow-auto text-[13px]">
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {nameOfKey(column)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {columns.map((column) => (
                <td key={column}>{plainWord(row[column] ?? null)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const MOST_COLUMNS = 8;
const MOST_ROWS = 500;

/** Objects of simple values, few enough in each direction to be read as a table. */
function asRows(value: Json): JsonObject[] | null {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_ROWS) return null;
  const rows = value.filter(isPlainObject);
  if (rows.length < value.length || !rows.every((row) => Object.values(row).every(isLeaf))) return null;
  const columns = new Set(rows.flatMap((row) => Object.keys(row)));
  return columns.size > 0 && columns.size <= MOST_COLUMNS ? rows : null;
}

const isPlainObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
/** An object of simple values, or of such objects. */
const isReadable = (value: Json, depth = 0): value is JsonObject =>
  isPlainObject(value) &&
  Object.values(value).every((inner) => isSmall(inner) || (depth < 1 && isReadable(inner, depth + 1)));
const isLeaf = (value: Json | undefined) => value === null || typeof value !== "object";
const isSmall = (value: Json | undefined) =>
  isLeaf(value) || (Array.isArray(value) && value.length <= 20 && value.every(isLeaf));

const plainWord = (value: Json): string =>
  value === null
    ? "–"
    : value === true
      ? "Yes"
      : value === false
        ? "No"
        : typeof value === "string"
          ? value
          : JSON.stringify(value);

/** "approval_status" as people write it: "Approval status". */
const nameOfKey = (key: string): string => {
  const text = key.replace(/[_-]+/g, " ").trim();
  return text === "" ? key : text.charAt(0).toUpperCase() + text.slice(1);
};
