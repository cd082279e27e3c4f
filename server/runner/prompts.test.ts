import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { builtinRoles, findBuiltinRole } from "@/server/domain/agent/builtin-roles";
import { inputFields } from "@/server/domain/graph/run-input";
import { estimateRun, totalOf } from "@/server/domain/library/estimate";
import { templates } from "@/server/templates";
import { defineTool, type ToolInterface } from "@/server/tools/define";
import { type Asked, askedBy, pageOf, shares } from "./prompts/page";
import { fakeTools, newStage } from "./testing";

/*
 * What each template really sends to models, in full: server/runner/prompts/<template>.md. A change of a prompt is a
 * change of these files, to be read as such. Recorded anew by: TROUPE_RECORD_PROMPTS=1 npx vitest run server/runner/prompts
 */

const folder = path.join(import.meta.dirname, "prompts");

/** Stands for a tool of this installation: prompts tell models no more of it than this. */
const standIn = (name: string): ToolInterface =>
  defineTool({
    name,
    description: `Stands for ${name}.`,
    input: z.object({ query: z.string(), count: z.number().optional() }),
    source: "builtin",
    risk: "LOW",
    read_only: true,
    execute: ({ query }) => ({ found: `About ${query}` }),
  });

async function sentBy({ key, graph }: (typeof templates)[number]): Promise<Asked[]> {
  const asked = askedBy();
  const named = new Set(builtinRoles.flatMap(({ tools }) => tools));
  const { state } = await newStage({ models: asked.models, tools: fakeTools([...named].map(standIn)) }).run(
    graph,
    {
      input: Object.fromEntries(
        inputFields(graph).map((field) => [
          field.key,
          z.coerce
            .string()
            .parse(z.array(z.string()).catch([]).parse(field.schema.examples)[0] ?? field.schema.default),
        ]),
      ),
      roles: builtinRoles,
      agrees: true,
    },
  );
  expect([key, state.run.final_status]).toEqual([key, "COMPLETED"]);
  return asked.calls;
}

describe("what a template sends is what its page shows", () => {
  test.each(templates.map((template) => [template.key, template] as const))("%s", async (key, template) => {
    const page = pageOf(template.title, await sentBy(template));
    const file = path.join(folder, `${key}.md`);
    if (process.env.TROUPE_RECORD_PROMPTS) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(file, page);
    }
    expect(page).toBe(existsSync(file) ? readFileSync(file, "utf8") : "not recorded yet");
  });
});

test("a template asks models as often as was estimated beforehand", async () => {
  for (const template of templates) {
    const [least, most] = totalOf(estimateRun(template.graph, findBuiltinRole)).calls;
    const { length } = await sentBy(template);
    expect([template.key, length >= least, length <= most]).toEqual([template.key, true, true]);
  }
});

describe("prompts begin so that providers' caches know them again", () => {
  test("what an agent is told first stays the same from call to call of one kind", async () => {
    for (const template of templates) {
      const seen = new Map<string, string>();
      for (const { call_id, messages, tools, response } of await sentBy(template)) {
        const [activation, , , agent = ""] = call_id.split("/");
        const kind = JSON.stringify([activation, agent, tools ?? [], response ?? null]);
        const first = messages[0]!.content;
        expect([kind, seen.get(kind) ?? first]).toEqual([kind, first]);
        seen.set(kind, first);
      }
    }
  });

  test("a manager's conversation only grows: each call begins with all of the one before", async () => {
    const calls = await sentBy(templates.find(({ key }) => key === "data-analysis")!);
    const rounds = calls.filter(({ call_id }) => call_id.includes("/manager/"));
    expect(rounds.length).toBeGreaterThan(2);
    for (const [at, { messages }] of rounds.entries()) {
      const before = rounds[at - 1]?.messages ?? [];
      expect(messages.slice(0, before.length)).toEqual(before);
    }
  });
});

if (process.env.TROUPE_MEASURE_PROMPTS)
  test("what the prompts of all templates hold in common is written to the named file", async () => {
    const rows: string[] = [];
    for (const template of templates) {
      const all = shares(await sentBy(template));
      const sum = (pick: (one: (typeof all)[number]) => number) =>
        all.reduce((total, one) => total + pick(one), 0);
      rows.push(
        `${template.key}: ${all.length} calls, ${sum(({ tokens }) => tokens)} tokens, ${sum(({ shared }) => shared)} shared with an earlier call, ${sum(({ before }) => before)} with the call before`,
      );
    }
    writeFileSync(process.env.TROUPE_MEASURE_PROMPTS ?? "", `${rows.join("\n")}\n`);
  }, 60_000);
