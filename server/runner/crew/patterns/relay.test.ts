import { describe, expect, test } from "vitest";
import { agent, as, call, calls, of, role, runCrew, tool } from "@/server/conformance/stage";
import type { JsonObject } from "@/server/domain/base/values";
import type { ChatMessage } from "@/server/domain/run/events";

const team = { process: "swarm" as const, agents: ["ann", "bob"].map((name) => agent(name)) };
const roles = ["ann", "bob"].map((name) => role(name, ["look"]));
const tools = [tool("look")];
const look = (...texts: string[]) => as("ann", calls(...texts.map((text) => call("look", { text }))));
const over = (more: JsonObject) =>
  as("ann", calls(call("handoff", { destination_agent: "bob", reason: "too hard", ...more })));

/** What the one who takes over is sent beside its role, and what stands in the log of it. */
async function takenOver(steps: Parameters<typeof runCrew>[0], more: JsonObject) {
  const { models, state, events } = await runCrew(
    [
      ...steps,
      over(more),
      ...(more.context_mode === "summary" ? [as("ann", { text: "the gist" })] : []),
      as("bob", { text: "solved" }),
    ],
    team,
    { roles, tools },
  );
  expect(state.state.result).toBe("solved");
  return { sent: models.calls.at(-1)!.messages.slice(1), events };
}
const TAKES =
  "You take over from ann. Reach the goal, or hand off to someone who can do it better. What ann says:";
/** The messages in short: of those of the user, whether they hold the goal and what it takes over. */
const kinds = (messages: readonly ChatMessage[]) =>
  messages.map(({ role: from, content, tool_calls }) => {
    if (tool_calls) return `calls ${tool_calls.length}`;
    if (from !== "user") return content;
    return [
      "user",
      content.includes("<goal>the goal</goal>") && "goal",
      content.includes(TAKES) && "takes over",
    ]
      .filter(Boolean)
      .join(", ");
  });

describe("conversation context in a handoff", () => {
  test("a full handoff passes the whole conversation once", async () => {
    const { sent, events } = await takenOver([look("x")], { context_mode: "full" });
    expect(kinds(sent)).toEqual([
      "user, goal",
      "calls 1",
      "look (200): look of x",
      "calls 1",
      "handoff (200): bob takes over.",
      "user, takes over",
    ]);
    expect(sent.at(-1)!.content).toContain("<reason>too hard</reason>");
    expect(of(events, "handed_off")).toEqual([{ from: "ann", to: "bob", reason: "too hard", count: 1 }]);
    expect(of(events, "board_written")).toEqual([{ alias: "ann", bulletin: "Handed over to bob: too hard" }]);
  });

  test("a context_only handoff passes only the goal and its context", async () => {
    const { sent } = await takenOver([look("x")], {
      context_mode: "context_only",
      context: { file: "a.py" },
    });
    expect(kinds(sent)).toEqual(["user, goal, takes over"]);
    expect(sent[0]!.content).toMatch(/<context>\s*\{\s*"file":\s*"a.py"\s*\}\s*<\/context>/);
  });

  test("a last_n handoff passes ten messages and no result without its call", async () => {
    const last = async (...steps: Parameters<typeof runCrew>[0]) =>
      kinds((await takenOver(steps, { context_mode: "last_n" })).sent);
    // The task, four times a call with its result, and the handoff: eleven.
    expect(await last(look("a"), look("b"), look("c"), look("d"))).toEqual([
      "calls 1",
      "look (200): look of a",
      "calls 1",
      "look (200): look of b",
      "calls 1",
      "look (200): look of c",
      "calls 1",
      "look (200): look of d",
      "calls 1",
      "handoff (200): bob takes over.",
      "user, goal, takes over",
    ]);
    // One result more: the tenth last is a result, whose call stays behind.
    expect(await last(look("a", "b"), look("c"), look("d"), look("e"))).toEqual([
      "calls 1",
      "look (200): look of c",
      "calls 1",
      "look (200): look of d",
      "calls 1",
      "look (200): look of e",
      "calls 1",
      "handoff (200): bob takes over.",
      "user, goal, takes over",
    ]);
    expect((await last())[0]).toBe("user, goal");
  });

  test("a summary handoff passes the previous agent's summary", async () => {
    const { sent } = await takenOver([look("x")], { context_mode: "summary" });
    expect(kinds(sent)).toEqual(["user", "user, goal, takes over"]);
    expect(sent[0]!.content).toBe("Summary of the conversation so far:\n<summary>the gist</summary>");
  });
});
