import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { ErrorCode } from "@/server/domain/agent/outcome";
import { REJECTIONS } from "@/server/operations/rejections";
import { CATALOG, type Explanation, explain } from "./catalog";

const domain = path.resolve(import.meta.dirname, "..");
const page = path.resolve(domain, "../../docs/errors.md");

test("every code has a catalog entry, and every entry has a code", () => {
  expect(Object.keys(CATALOG.run_errors).sort()).toEqual([...ErrorCode.options].sort());
  expect(Object.keys(CATALOG.api_errors).sort()).toEqual(Object.keys(REJECTIONS).sort());
  const sources = readdirSync(domain, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.ts$/.test(file) && !/\.test\.ts$|^(testing|errors)/.test(file))
    .map((file) => readFileSync(path.join(domain, file), "utf8"));
  const used = new Set(sources.flatMap((text) => text.match(/(?<=")[EW]_[A-Z_]+(?=")/g) ?? []));
  expect(Object.keys(CATALOG.diagnostics).sort()).toEqual([...used].sort());
});

test("codes are looked up case-insensitively", () => {
  expect(explain("output_invalid")).toBe(CATALOG.run_errors.OUTPUT_INVALID);
  expect(explain("Queue_Full")).toBe(CATALOG.api_errors.queue_full);
  expect(explain("toString")).toBeNull();
});

test("docs/errors.md lists every code; UPDATE_DOCS=1 rewrites it", () => {
  const text = `# Error codes

<!-- Generated from server/domain/errors/catalog.json by: UPDATE_DOCS=1 npx vitest run server/domain/errors -->

\`troupe explain CODE\` prints one of these entries.

## Runs and nodes

${table(CATALOG.run_errors)}
## Workflows

Diagnostics on the canvas. \`E_\` keeps a workflow from running, \`W_\` doesn't.

${table(CATALOG.diagnostics)}
## HTTP API

${table(CATALOG.api_errors)}`;
  if (process.env.UPDATE_DOCS === "1") writeFileSync(page, text);
  expect(readFileSync(page, "utf8")).toBe(text);
});

const table = (entries: Readonly<Record<string, Explanation>>) =>
  `| Code | Meaning | Cause | Fix |\n| --- | --- | --- | --- |\n${Object.entries(entries)
    .map(([code, { title, cause, fix }]) => `| \`${code}\` | ${title} | ${cause} | ${fix} |\n`)
    .join("")}`;
