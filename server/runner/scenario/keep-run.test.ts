import { readFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import type { Json } from "@/server/domain/base/values";
import { inputFields } from "@/server/domain/graph/run-input";
import { ScenarioTest } from "@/server/domain/scenario/scenario-test";
import { newDemoModels } from "@/server/llm/demo-models";
import { newScratchTools } from "@/server/scratch-tools";
import { templates } from "@/server/templates";
import type { Turn } from "../durable/embedded-contract";
import { interpreters } from "../interpreter/interpreters";
import { requestHash } from "../replay/request-hash";
import { retraced } from "../replay/retrace";
import { newStage } from "../testing";
import type { TestParts } from "./answering";
import { testOfRun } from "./keep-run";
import { runTest } from "./run-test";

const nothing = () => Promise.reject(new Error("A test asks nobody."));

const partsOf = (): TestParts => {
  const models = newDemoModels();
  return {
    models: { ...models, complete: nothing },
    demoModels: () => ({ ...models, complete: nothing }),
    tools: newScratchTools(() => 0).host,
    scratchTools: newScratchTools,
  };
};

describe("a template run that is kept as a test passes each time without calls", () => {
  for (const { key, graph } of templates)
    test(key, async () => {
      const stage = newStage({ models: newDemoModels() });
      const input = Object.fromEntries(
        inputFields(graph).map((field) => [field.key, "Please approve my vacation for next week."]),
      );
      const { id } = await stage.run(graph, { input, roles: builtinRoles, agrees: true });
      const kept = { id: "kept", ...testOfRun(id, stage.store.journal(id), key) };
      // It goes through a file.
      const read = ScenarioTest.parse(JSON.parse(JSON.stringify(kept)));
      const parts = partsOf();
      const tested = { name: key, graph, roles: builtinRoles };
      const report = await runTest(tested, read, parts);
      expect([report.problems, report.sentence]).toEqual([[], expect.stringMatching(/expectations passed/)]);
      expect(report).toMatchObject({ status: "passed", outcome: { unused_answers: 0 } });
      expect(report.outcome?.path.length).toBeGreaterThan(2);
      expect(await runTest(tested, read, parts)).toEqual(report);
    });
});

test("a test kept from a run before edition 3 uses the prompts of that run and passes", async () => {
  const file = path.join(import.meta.dirname, "../journals/v2.json.gz");
  const recorded = JSON.parse(gunzipSync(readFileSync(file)).toString("utf8")) as {
    name: string;
    id: string;
    version: number;
    turns: Turn[];
    signals: [string, Json][];
  }[];
  for (const { name, id, version, turns, signals } of recorded.filter((one) =>
    /^(template|crew)/.test(one.name),
  )) {
    const created = turns[0]!.events[0]!;
    if (created.type !== "run_created") throw new Error("A log begins with run_created.");
    const journal = { version, turns, timers: new Map(), signals: new Map(signals) };
    // These logs are older than the hashes of requests.
    for (const { key, kind, asked } of retraced(id, journal, interpreters[version]!)) {
      const result = turns.find((turn) => turn.key === key)?.result;
      if (result && (kind === "model" || kind === "tool"))
        Object.assign(result, { request: requestHash({ kind, asked: () => asked }) });
    }
    const kept = { id: "kept", ...testOfRun(id, journal, name) };
    const read = ScenarioTest.parse(JSON.parse(JSON.stringify(kept)));
    expect(read.answers?.answers).not.toEqual([]);
    expect(read.answers?.recorded.edition).toBeUndefined();
    const tested = { name, graph: created.payload.graph, roles: created.payload.roles };
    const { status, sentence } = await runTest(tested, read, partsOf());
    expect([name, status, sentence]).toEqual([name, "passed", expect.any(String)]);
  }
});
