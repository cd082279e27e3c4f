import { errorMessage } from "@/server/domain/base/guards";
import { log } from "@/server/log";
import { calledBy } from "@/server/runner/lifecycle/launch";
import { runSuite } from "@/server/runner/scenario/run-suite";
import { judgeBookOf, scenarioOf } from "../scenarios/stored-tests";
import type { Services } from "../services";

/** Runs a workflow's tests on a version in the background and stores the result with the version. */
export function testVersion(services: Services, id: string, number: number): void {
  const { versions } = services;
  const tests = services.scenarios.list(id).map(scenarioOf);
  const total = tests.length;
  versions.setTests(id, number, total === 0 ? null : { status: "running", total, passed: 0, failed: [] });
  if (total === 0) return;
  const run = async () => {
    const version = versions.find(id, number);
    if (!version) return;
    const { name, graph, roles, foreign } = version;
    const parts = { ...services, workflows: services.called };
    const { installation, testParts, testGates } = services;
    const report = await testGates.through("offline", undefined, () =>
      runSuite({
        tested: {
          ...{ name, graph, roles, foreign, installation, ...calledBy(parts, graph, [id]) },
          variables: services.variables.valuesFor(id),
        },
        tests,
        parts: testParts,
        book: judgeBookOf(services, id),
      }),
    );
    const failed = report.tests.flatMap((test) => (test.status === "passed" ? [] : test.name));
    const status = failed.length === 0 ? "passed" : "failed";
    versions.setTests(id, number, { status, total, passed: report.passed, failed });
  };
  run().catch((error: unknown) => {
    log("warn", "The tests of a published version could not run.", {
      workflow_id: id,
      version: number,
      error: errorMessage(error),
    });
    if (services.workflows.find(id)) versions.setTests(id, number, null);
  });
}

/** Runs the tests that were interrupted when the server stopped. */
export function testUntested(services: Services): void {
  for (const { id, number } of services.versions.untested()) testVersion(services, id, number);
}
