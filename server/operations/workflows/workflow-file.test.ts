import { expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { appRouter } from "@/server/api/root";
import { readImport } from "@/server/interop/import/pipeline";
import { newServices } from "@/server/services";

test("a renamed workflow's file has its current name", async () => {
  const troupe = newServices(emptyDb(), { dataDir: null });
  const ask = appRouter.createCaller({ troupe, principal: { kind: "session", id: "s" } });
  const { id } = await ask.workflows.create({});
  await ask.workflows.rename({ id, name: "Tide tables" });
  const file = await ask.workflows.export({ id });
  expect(file.file_name).toBe("tide_tables.json");
  expect(JSON.parse(file.text)).toMatchObject({ workflow: { graph_id: "Tide_tables" } });
});

test("a new workflow has only its start node, and its file is read back unchanged", async () => {
  const troupe = newServices(emptyDb(), { dataDir: null });
  const ask = appRouter.createCaller({ troupe, principal: { kind: "session", id: "s" } });
  const { id } = await ask.workflows.create({});
  const { graph } = await ask.workflows.get({ id });
  expect(Object.values(graph.nodes).map(({ node_type }) => node_type)).toEqual(["start"]);
  const { text } = await ask.workflows.export({ id });
  const { findings, imported } = readImport([{ path: "new.json", text }]);
  expect(findings.filter(({ level }) => level === "error")).toEqual([]);
  expect(imported?.graph?.nodes).toEqual(graph.nodes);
});

test("an export to the OpenHands format lists roles and tests as omitted", async () => {
  const troupe = newServices(emptyDb(), { dataDir: null });
  const ask = appRouter.createCaller({ troupe, principal: { kind: "session", id: "s" } });
  const { id } = await ask.workflows.fromTemplate({ key: "release-notes" });
  const { losses } = await ask.workflows.export({ id, flavour: "openhands" });
  expect(losses).toMatchObject([
    { at: "nodes" },
    {
      level: "dropped",
      at: "roles",
      message: "Roles aren't part of this format. Export them on the Roles page.",
    },
    { level: "dropped", at: "tests", message: "Tests aren't part of this format." },
  ]);
  expect((await ask.workflows.export({ id })).losses).toEqual([]);
});
