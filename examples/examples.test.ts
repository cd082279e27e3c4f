import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { callWorkflow } from "@/server/cli/testing";
import type { JsonObject } from "@/server/domain/base/values";
import { readWorkflow, writeWorkflow } from "@/server/domain/graph/document/document";
import { findInputErrors } from "@/server/domain/graph/input-check";
import { findProblems } from "@/server/domain/problems/problems";
import type { SuiteReport } from "@/server/domain/scenario/report";
import { readTests, writtenTests } from "@/server/domain/scenario/test-file";
import { gallery } from "@/server/templates";
import { exampleFiles } from ".";

const folders = readdirSync(import.meta.dirname, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);
const read = (...names: string[]) => readFileSync(path.join(import.meta.dirname, ...names), "utf8");

describe.each(folders)("%s", (folder) => {
  const text = read(folder, "workflow.json");
  const { name, graph, roles, tests, findings } = readWorkflow(text);
  if (!graph) throw new Error(`${folder}/workflow.json can't be read: ${JSON.stringify(findings)}`);

  test("the workflow is in the app's export format and has no problems", () => {
    expect(findings).toEqual([]);
    expect(findProblems(graph, roles)).toEqual([]);
    const written = writtenTests(readTests(tests).tests);
    expect(writeWorkflow(graph, { flavour: "troupe", name, roles, tests: written })).toBe(text);
  });

  test("the workflow passes its tests", async () => {
    const { code, out } = await callWorkflow(
      ["test", "workflow.json", "--json"],
      path.join(import.meta.dirname, folder),
    );
    const { tests: reports }: SuiteReport = JSON.parse(out);
    expect(reports.filter(({ status }) => status !== "passed")).toEqual([]);
    expect(code).toBe(0);
  });

  test("the workflow has a valid input and a README of at most 120 words", () => {
    const input: JsonObject = JSON.parse(read(folder, "input.json"));
    expect(findInputErrors(graph, input)).toEqual([]);
    const readme = read(folder, "README.md");
    expect(readme).toMatch(new RegExp(`^# ${name}\n`));
    expect(readme.trim().split(/\s+/).length).toBeLessThanOrEqual(120);
    expect(read("README.md")).toContain(`[${name}](${folder}/README.md)`);
  });

  test("the workflow is offered as a template", () => {
    expect(gallery.find(({ key }) => key === folder)?.graph).toEqual(graph);
  });
});

test("all example folders are bundled and offered as templates", () => {
  expect(Object.keys(exampleFiles)).toEqual(folders);
  expect(gallery.map(({ key }) => key).sort()).toEqual(folders);
});
