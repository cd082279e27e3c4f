import { expect, test } from "vitest";
import { z } from "zod";
import { draw } from "@/server/domain/testing/drawing";
import { defineTool } from "@/server/tools/define";
import { fakeTools, newStage } from "../testing";

const tool = defineTool({
  name: "look",
  description: "Looks",
  input: z.object({ text: z.string() }),
  source: "builtin",
  risk: "LOW",
  read_only: true,
  execute: () => null,
});
const RAW = "Cannot read properties of undefined (reading 'status')";

test.each([
  ["a JavaScript error", () => new TypeError(RAW)],
  ["a thrown string", () => RAW],
])(
  "%s is reported with a code and a readable message, with the original text as detail",
  async (_what, thrown) => {
    const tools = fakeTools([tool]);
    tools.invoke = () => {
      // oxlint-disable-next-line typescript/only-throw-error -- that is what it is about
      throw thrown();
    };
    const graph = draw("start > a > end", {
      a: { node_type: "tool_call", name: "Look it up", config: { tool_name: "look", args: { text: "x" } } },
    });
    const { error } = (await newStage({ tools }).run(graph)).state.run;
    expect(error).toMatchObject({
      code: "INTERNAL",
      detail: { fault: expect.stringContaining(RAW) as string },
    });
    expect(error?.message).toMatch(/^Look it up failed: an internal Troupe error \([0-9a-f]{8}\)/);
    expect(error?.message).not.toContain("undefined");
  },
);

test("a Troupe error keeps its message", async () => {
  const tools = fakeTools([tool]);
  tools.invoke = () => {
    throw Object.assign(new Error("The disk is full."), { name: "DiskFull" });
  };
  const graph = draw("start > a > end", {
    a: { node_type: "tool_call", config: { tool_name: "look", args: { text: "x" } } },
  });
  expect((await newStage({ tools }).run(graph)).state.run.error).toMatchObject({
    code: "INTERNAL",
    message: "The disk is full.",
  });
});
