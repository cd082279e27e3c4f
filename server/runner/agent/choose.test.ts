import { describe, expect, test } from "vitest";
import { newScriptedStage, of, role } from "@/server/conformance/stage";
import type { JsonObject } from "@/server/domain/base/values";
import { draw } from "@/server/domain/testing/drawing";

const router = (config: JsonObject = {}, more: JsonObject = {}) =>
  draw("start > r; r left> a > end; r right> b > end", {
    start: { output_keys: ["topic"] },
    r: { node_type: "conditional_router", config: { kind: "llm", ...config }, ...more },
  });
const chosen = { label: "right", reason: "It says so.", confidence: 0.75 };

describe("LLM router", () => {
  test("an LLM router asks for one of its labels and records the reason", async () => {
    const stage = newScriptedStage([{ json: chosen }]);
    const { state, events } = await stage.run(
      router({ instruction: "By {{ topic }}", llm_config: { model: "small" } }),
      { input: { topic: "bees" }, roles: [role("Router")] },
    );
    expect([Object.keys(state.state).sort(), state.run.final_status]).toEqual([["b", "topic"], "COMPLETED"]);
    expect(of(events, "router_decided")).toMatchObject([{ reason: "It says so.", confidence: 0.75 }]);
    const [request] = stage.models.calls;
    expect(request!.llm_config).toEqual({ temperature: 0, model: "small" });
    expect(request!.response?.schema).toEqual({
      type: "object",
      properties: {
        label: { type: "string", enum: ["left", "right"] },
        reason: { type: "string" },
        confidence: { type: "number", minimum: 0, maximum: 1 },
      },
      required: ["label", "reason", "confidence"],
      additionalProperties: false,
    });
    const asked = request!.messages.at(-1)!.content;
    expect(asked).toContain("Choose the one label that fits.\nLabels:\n- left: ");
    expect(asked).toMatch(/\n- right: .*\nInstruction: By /);
    expect(asked).toContain("bees");
  });

  test("an LLM router without an instruction asks for the best fit, at its own temperature", async () => {
    const stage = newScriptedStage([{ json: chosen }]);
    await stage.run(router({ instruction: " ", llm_config: { temperature: 1 } }));
    const [request] = stage.models.calls;
    expect(request!.messages.at(-1)!.content).toContain("Instruction: Choose the label that fits best.");
    expect(request!.llm_config).toEqual({ temperature: 1 });
  });

  test("an LLM router sees its node's inputs, or the whole state if none are named", async () => {
    const seen = async (more: JsonObject) => {
      const stage = newScriptedStage([{ json: chosen }]);
      await stage.run(router({}, more), { input: { topic: "bees", other: "wasps" } });
      const { content } = stage.models.calls[0]!.messages.at(-1)!;
      return [content.includes("bees"), content.includes("wasps")];
    };
    expect(await seen({ input_keys: ["topic"] })).toEqual([true, false]);
    expect(await seen({})).toEqual([true, true]);
  });

  test("an LLM router retries if the model returns an unknown label", async () => {
    const stage = newScriptedStage([{ json: { ...chosen, label: "up" } }, { json: chosen }]);
    const { state } = await stage.run(router());
    expect(state.run.final_status).toBe("COMPLETED");
    expect(stage.models.calls).toHaveLength(2);
  });

  test("an LLM router without labeled routes fails without calling the model", async () => {
    const stage = newScriptedStage([]);
    const { state } = await stage.run(draw("start > r > end", { r: { config: { kind: "llm" } } }));
    expect(state.run).toMatchObject({
      final_status: "ERROR",
      error: {
        code: "ROUTER_FAILED",
        message: "The router has no labeled routes to choose from.",
      },
    });
    expect(stage.models.calls).toEqual([]);
  });
});
