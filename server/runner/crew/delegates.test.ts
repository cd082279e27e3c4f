import { describe, expect, test } from "vitest";
import { agent, as, call, calls, crewGraph, newScriptedStage, role, tool } from "@/server/conformance/stage";

const lead = agent("lead", { allow_delegation: true });
const roles = [role("lead"), role("web", ["browse"])];
const plan = { tasks: [{ task_id: "t", description: "find out", assigned_agent: "lead" }] };

async function run(crew: { delegate_tools?: "own" | "shared" }, installation?: { delegate_tools: "shared" }) {
  const stage = newScriptedStage(
    [
      as("lead", calls(call("ask_coworker", { coworker: "web", question: "how many stars?" }))),
      as("web", { text: "42" }),
      as("lead", { text: "it has 42" }),
    ],
    [tool("browse")],
  );
  const id = stage.start(crewGraph({ agents: [lead, agent("web")], ...crew }, plan), {
    roles,
    ...(installation ? { installation } : {}),
  });
  await stage.host.settled(id);
  const [first, second] = stage.models.calls;
  return {
    offered: second!.tools?.map(({ name }) => name) ?? [],
    /** What the caller reads of its way to ask. */
    caller: first!.tools!.find(({ name }) => name === "ask_coworker")!.description,
    delegate: second!.messages[0]!.content,
  };
}

describe("delegate tools", () => {
  test("a delegate has only the tools both agents may use, and both see which are missing", async () => {
    const { offered, caller, delegate } = await run({});
    expect(offered).not.toContain("browse");
    expect(caller).toContain(
      "Ask a coworker a question. It knows only what you tell it; you get its answer. It has no tools that you lack: web works without browse.",
    );
    expect(delegate).toContain(
      "These tools are unavailable here: browse (The agent that delegated this task may not use it).",
    );
  });

  test("a delegate keeps the tools of its own role if the crew allows it", async () => {
    const { offered, caller, delegate } = await run({ delegate_tools: "own" });
    expect(offered).toContain("browse");
    expect(caller).toContain("It uses the tools of its role.");
    expect(delegate).not.toContain("browse");
  });

  test("an installation rule overrides a crew that lets delegates keep their own tools", async () => {
    const { offered, delegate } = await run({ delegate_tools: "own" }, { delegate_tools: "shared" });
    expect(offered).not.toContain("browse");
    expect(delegate).toContain("These tools are unavailable here: browse");
  });
});
