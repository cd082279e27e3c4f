import { describe, expect, test } from "vitest";
import { readWorkflow } from "@/server/domain/graph/document/document";
import { RunConfigChanges } from "./outcome";

describe("run settings", () => {
  test.each([
    [{ max_tokens: -1 }, "max_tokens"],
    [{ max_cost_usd: 1 }, "max_cost_usd"],
    [{ budget: { max_cost: 1 } }, "max_cost"],
    [{ budget: { max_total_tokens: 0.5 } }, "budget.max_total_tokens"],
    [{ budget: { max_total_tokens: 2 ** 53 } }, "budget.max_total_tokens"],
    [{ budget: { warn_at: -5 } }, "budget.warn_at"],
    [{ max_subrun_depth: -3 }, "max_subrun_depth"],
    [{ max_subrun_depth: 6 }, "max_subrun_depth"],
    [{ mode: "sideways" }, "mode"],
    [{ max_steps: 1.5 }, "max_steps"],
  ])("%j is rejected with the name of the invalid setting", (config, name) => {
    const read = RunConfigChanges.safeParse(config);
    const messages = read.error?.issues
      .map(({ path, message }) => `${path.join(".")}: ${message}`)
      .join("; ");
    expect(messages).toContain(name);
  });

  test("valid run settings are accepted without added defaults", () => {
    const config = { max_steps: 5, max_subrun_depth: 2, mode: "continuous" as const, denied_tools: ["x"] };
    expect(RunConfigChanges.parse(config)).toEqual(config);
  });

  test("importing a workflow reports invalid run settings", () => {
    const { graph, findings } = readWorkflow({
      graph_id: "g",
      nodes: { start: { id: "start", node_type: "start" } },
      edges: [],
      config: { max_stepz: 5, mode: "sideways", max_subrun_depth: 9, budget: { warn_at: -5 } },
    });
    expect(graph?.config?.budget.warn_at).toBe(0.8);
    const places = findings.filter(({ at }) => at.startsWith("config")).map(({ at }) => at);
    expect(places.sort()).toEqual([
      "config.budget.warn_at",
      "config.max_stepz",
      "config.max_subrun_depth",
      "config.mode",
    ]);
  });
});
