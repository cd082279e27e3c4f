import { expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { appRouter } from "@/server/api/root";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { newServices } from "@/server/services";

function newStage() {
  const troupe = newServices(emptyDb(), { dataDir: null });
  troupe.roles.seed(builtinRoles);
  return {
    troupe,
    ask: appRouter.createCaller({ troupe, principal: { kind: "session", id: "s" } }),
  };
}

test("every template is created with its roles and with tests that pass", async () => {
  const { troupe, ask } = newStage();
  await troupe.toolSources.start();
  for (const { key } of await ask.workflows.templates()) {
    const { id } = await ask.workflows.fromTemplate({ key });
    const { can_run, problems } = await ask.workflows.validate({ id });
    // Code is off by default, and a role of one template would use it.
    const codes = problems.flatMap(({ code }) => (code === "W_TOOL_OFF" ? [] : [code]));
    expect({ key, can_run, codes }).toEqual({ key, can_run: true, codes: [] });
    const { passed, tests } = await ask.tests.run({ workflow_id: id });
    expect({ key, passed }).toEqual({ key, passed: tests.length });
  }
  await troupe.toolSources.stop();
});

test("a template's role keeps its tools and asks before using them", async () => {
  const { troupe, ask } = newStage();
  await ask.workflows.fromTemplate({ key: "release-notes" });
  expect(troupe.roles.find("ReleasePublisher")?.role).toMatchObject({
    tools: ["file_write"],
    confirmation: { kind: "tools", tools: ["file_write"] },
  });
});

test("an existing role isn't replaced by a template's role", async () => {
  const { troupe, ask } = newStage();
  await ask.workflows.fromTemplate({ key: "release-notes" });
  const { role } = troupe.roles.find("ReleaseWriter") ?? {};
  if (!role) throw new Error("The template brought no ReleaseWriter.");
  troupe.roles.put({ ...role, description: "Mine." });
  await ask.workflows.fromTemplate({ key: "release-notes" });
  expect(troupe.roles.find("ReleaseWriter")?.role.description).toBe("Mine.");
});
