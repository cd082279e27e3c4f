"use client";

import dynamic from "next/dynamic";
import { JsonView } from "@/components/ui/json-view";
import { Spinner } from "@/components/ui/spinner";
import type { Json, JsonObject } from "@/server/domain/base/values";

const Markdown = dynamic(() => import("@/components/display/markdown").then((module) => module.Markdown), {
  loading: () => <Spinner size={16} label="Loading" />,
});

/** A value of a result, to be read: texts as Markdown, rows as a table, objects as fields, anything else as JSON. */
export function ResultValue({ value, label }: { value: Json; label: string }) {
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
export const nameOfKey = (key: string): string => {
  const text = key.replace(/[_-]+/g, " ").trim();
  return text === "" ? key : text.charAt(0).toUpperCase() + text.slice(1);
};
