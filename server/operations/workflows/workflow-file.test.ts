import { expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { appRouter } from "@/server/api/root";
import { readImport } from "@/server/interop/import/pipeline";
import { newServices } from "@/server/services";

test("the file of a workflow that began without a name is called what it is called by then", async () => {
  const troupe = newServices(emptyDb(), { dataDir: null });
  const ask = appRouter.createCaller({ troupe, principal: { kind: "session", id: "s" } });
  const { id } = await ask.workflows.create({});
  await ask.workflows.rename({ id, name: "Tide tables" });
  const file = await ask.workflows.export({ id });
  expect(file.file_name).toBe("tide_tables.json");
  expect(JSON.parse(file.text)).toMatchObject({ workflow: { graph_id: "Tide_tables" } });
});

test("a new workflow has only its start, and its file is read back as it was", async () => {
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

test("a file in the OpenHands format says that roles and tests are not in it", async () => {
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
