import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { builtinRoles } from "@/server/domain/agent/builtin-roles";
import { RoleDefinition } from "@/server/domain/agent/role";
import { CREW_TOOL_NOTES } from "@/server/domain/crew/crew-tools";
import { inputFields } from "@/server/domain/graph/run-input";
import { draw } from "@/server/domain/testing/drawing";
import { newModels } from "@/server/llm/models";
import { newOfflineFetch } from "@/server/llm/offline";
import { newScriptedModels } from "@/server/llm/scripted";
import { memoryProviders, offlineProvider } from "@/server/llm/testing";
import { templates } from "@/server/templates";
import { cases, roles as crewRoles, graphOf, modelsOf } from "../crew/testing";
import type { Journal } from "../durable/embedded-contract";
import { interpreters } from "../interpreter/interpreters";
import { newStage } from "../testing";
import { retracedCalls } from "./retrace";

/*
 * Runs of the third edition as that build recorded them, whose prompts had another wording. A replay, a fork and a test
 * find a recorded answer by the hash of its request, so today's prompts must still come to the same hashes.
 */

interface Recorded extends Pick<Journal, "turns"> {
  name: string;
  id: string;
  version: number;
}
const file = path.join(import.meta.dirname, "edition-3.journals.json.gz");

const toolUser = RoleDefinition.parse({ name: "Lead", tools: CREW_TOOL_NOTES.map((tool) => tool.name) });
const talks = draw("start > talk > end", {
  talk: {
    node_type: "crew_task",
    output_keys: ["result"],
    config: {
      plan_description_template: "Reach it.",
      crew: {
        crew_id: "c",
        process: "swarm",
        agents: [
          { agent_id: "lead", role_name: "Lead" },
          { agent_id: "other", role_name: "Lead" },
        ],
      },
    },
  },
});

if (process.env.TROUPE_RECORD_EDITION) {
  const recorded: Recorded[] = [];
  const keep = (stage: ReturnType<typeof newStage>, name: string, id: string) => {
    const { version, turns } = stage.store.journal(id);
    recorded.push({ name, id, version, turns: [...turns] });
  };
  for (const { key, graph } of templates) {
    const stage = newStage({
      models: newModels({
        providers: memoryProviders([offlineProvider]),
        offlineFetch: newOfflineFetch({ speed: 0 }),
      }),
    });
    const input = Object.fromEntries(inputFields(graph).map((field) => [field.key, "Plant more trees."]));
    keep(stage, key, (await stage.run(graph, { input, roles: builtinRoles, agrees: true })).id);
  }
  for (const [name, one] of Object.entries(cases)) {
    const stage = newStage({ models: modelsOf(one.answer) });
    keep(stage, `crew: ${name}`, (await stage.run(graphOf(one), { roles: crewRoles })).id);
  }
  const asks = (tool_name: string, args: Record<string, unknown> = {}) => ({
    tool_calls: [{ tool_name, args: JSON.parse(JSON.stringify(args)) as Record<string, string> }],
  });
  const stage = newStage({
    models: newScriptedModels([
      asks("unknown_tool"),
      asks("plan_read"),
      asks("plan_add_task", { description: "d" }),
      asks("write_board", { bulletin: "known" }),
      asks("propose_decision", { decision: "d", rationale: "r" }),
      asks("vote_on_proposal", { proposal_id: "proposal_1", vote: "approve", reasoning: "r" }),
      asks("vote_on_proposal", { proposal_id: "proposal_1", vote: "approve", reasoning: "r" }),
      asks("vote_on_proposal", { proposal_id: "p9", vote: "approve", reasoning: "r" }),
      asks("finalize_consensus", { proposal_id: "proposal_1" }),
      asks("create_team", { team_name: "t", agents: ["nobody"], purpose: "p" }),
      asks("reject_task", { reason: "No." }),
    ]),
  });
  keep(stage, "tools of crews", (await stage.run(talks, { roles: [toolUser] })).id);
  writeFileSync(file, gzipSync(JSON.stringify(recorded), { level: 9 }));
}

const all = JSON.parse(gunzipSync(readFileSync(file)).toString("utf8")) as Recorded[];

for (const { name, id, version, turns } of all)
  test(`a run of prompt edition 3 finds its recorded answers: ${name}`, () => {
    const answered = turns.flatMap(({ result }) => result?.request ?? []);
    const journal: Journal = { turns, timers: new Map(), signals: new Map() };
    const found = retracedCalls(id, journal, interpreters[version]!).flatMap(
      ({ result }) => result?.request ?? [],
    );
    expect(found.toSorted()).toEqual(answered.toSorted());
  });

test("the recorded runs of edition 3 called models", () => {
  expect(
    all.flatMap(({ turns }) => turns.flatMap(({ result }) => result?.request ?? [])).length,
  ).toBeGreaterThan(40);
});
