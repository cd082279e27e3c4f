import { expect, test } from "vitest";
import { z } from "zod";
import { RoleDefinition } from "@/server/domain/agent/role";
import type { ModelAnswer, ModelRequest, Models } from "@/server/llm/model";
import { newScriptedModels } from "@/server/llm/scripted";
import { fakeTools, newStage } from "@/server/runner/testing";
import { defineTool } from "@/server/tools/define";
import { graphOf } from "../testing";

const look = defineTool({
  name: "look",
  description: "Looks it up",
  input: z.object({ text: z.string() }),
  source: "builtin",
  risk: "LOW",
  read_only: true,
  execute: () => "seen",
});
const roles = ["Lead", "Worker", "Checker"].map((name) => RoleDefinition.parse({ name, tools: ["look"] }));

const who = ({ messages }: ModelRequest) => /You are (\w+)/.exec(messages[0]!.content)![1]!;
const kindOf = ({ messages }: ModelRequest) =>
  /Vote on this proposal/.test(messages.at(-1)!.content)
    ? "ballot"
    : /The vote is tied, and you decide/.test(messages.at(-1)!.content)
      ? "casting vote"
      : "proposal";

/** A crew of three, of whom two vote against each other and the third abstains; `casts` is what the chair says then. */
async function decide(tie: "reject" | "chair", casts: "approve" | "reject" = "approve") {
  const asked: { by: string; kind: string; tools: string[] }[] = [];
  const models: Models = {
    ...newScriptedModels(),
    complete(request, io): Promise<ModelAnswer> {
      const [by, kind] = [who(request), kindOf(request)];
      asked.push({ by, kind, tools: (request.tools ?? []).map(({ name }) => name) });
      const vote =
        kind === "casting vote" ? casts : { Lead: "abstain", Worker: "approve", Checker: "reject" }[by]!;
      const json =
        kind === "proposal"
          ? { decision: "do it", rationale: "why not" }
          : { vote, reasoning: "because", confidence: 0.5 };
      return newScriptedModels([{ json }]).complete(request, io);
    },
  };
  const stage = newStage({ models, tools: fakeTools([look]) });
  const consensus = { rule: "majority" as const, rounds: 1, tie };
  const graph = graphOf({
    crew: { process: "consensus", manager: { agent_id: "lead" }, consensus },
    answer: () => ({ text: "" }),
  });
  const { events } = await stage.run(graph, { roles });
  const end = events.find(({ type }) => type === "consensus_finalized");
  return { asked, end: end?.payload };
}

test("voters and a tie-breaking chair have no tools", async () => {
  const { asked, end } = await decide("chair");
  expect(end).toMatchObject({ outcome: "approved", decided_by: "chair", approve: 1, reject: 1, abstain: 1 });
  expect(asked.map(({ kind }) => kind)).toEqual(["proposal", "ballot", "ballot", "ballot", "casting vote"]);
  for (const { by, kind, tools } of asked)
    expect(tools.includes("look"), `${by}, ${kind}`).toBe(kind === "proposal");
});

test("a tie follows the crew's rule, and the chair can reject the proposal", async () => {
  expect((await decide("reject")).end).toMatchObject({ outcome: "rejected", decided_by: "rule" });
  expect((await decide("chair", "reject")).end).toMatchObject({ outcome: "rejected", decided_by: "chair" });
});
