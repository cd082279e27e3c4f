import { describe, expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { RunConfig, USUAL_CONFIRMATION } from "@/server/domain/agent/outcome";
import { type ConfirmationPolicy, RoleDefinition } from "@/server/domain/agent/role";
import type { ReadWorkflow } from "@/server/domain/graph/document/document";
import { draw } from "@/server/domain/testing/drawing";
import { RoleStore } from "@/server/store/library/roles";
import { bringRoles, safeWorkflow, seenRole } from "./role-import";

const role = (confirmation?: ConfirmationPolicy): RoleDefinition =>
  RoleDefinition.parse({ name: "Clerk", tools: ["http_write"], ...(confirmation ? { confirmation } : {}) });
const newStore = () => new RoleStore(emptyDb());
const bring = (theirs: RoleDefinition, ours?: RoleDefinition) => {
  const store = newStore();
  if (ours) store.put(ours);
  const seen = seenRole(theirs, store);
  bringRoles([theirs], { store, existing: "replace", allow_tools: ["http_write"], note: () => {} });
  return { seen: seen.confirmation, kept: store.find("Clerk")?.role.confirmation };
};

describe("imported roles", () => {
  test("an imported role can't disable confirmation, and the preview shows both policies", () => {
    expect(bring(role({ kind: "never" }))).toEqual({
      seen: { file: "never", here: "according to the run's policy" },
      kept: undefined,
    });
  });
  test("an imported role doesn't replace a stricter confirmation policy", () => {
    expect(bring(role({ kind: "never" }), role({ kind: "always" })).kept).toEqual({ kind: "always" });
    expect(bring(role(), role({ kind: "always" })).kept).toEqual({ kind: "always" });
  });
  test("an imported role can have a stricter confirmation policy", () => {
    expect(bring(role({ kind: "always" }), role({ kind: "never" }))).toEqual({
      seen: { file: "before every tool call", here: "before every tool call" },
      kept: { kind: "always" },
    });
  });
});

describe("imported workflows", () => {
  const read = (confirmation: ConfirmationPolicy) => {
    const graph = draw("start > end", {});
    const config = RunConfig.parse({ confirmation });
    return safeWorkflow<Pick<ReadWorkflow, "graph" | "findings">>({
      graph: { ...graph, config },
      findings: [],
    });
  };
  test.each<ConfirmationPolicy>([
    { kind: "never" },
    { kind: "tools", tools: ["other"] },
    { kind: "when", when: "false" },
    { kind: "risky", threshold: "LOW", confirm_unknown: false },
  ])(
    "an imported workflow with the confirmation policy $kind asks before risky actions and reports it",
    (policy) => {
      const { graph, findings } = read(policy);
      expect(graph?.config?.confirmation).toEqual(USUAL_CONFIRMATION);
      expect(findings).toMatchObject([{ level: "changed", at: "config.confirmation" }]);
    },
  );
  test.each<ConfirmationPolicy>([{ kind: "always" }, { ...USUAL_CONFIRMATION, threshold: "LOW" } as never])(
    "an imported workflow keeps a confirmation policy that is strict enough ($kind)",
    (policy) => {
      const { graph, findings } = read(policy);
      expect(graph?.config?.confirmation).toEqual(policy);
      expect(findings).toEqual([]);
    },
  );
});
