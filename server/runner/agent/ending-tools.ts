import { z } from "zod";
import { defined } from "@/server/domain/base/defined";
import { Json } from "@/server/domain/base/values";
import { defineRunTool, done } from "./run-tool";

/** For models that always call a tool: an answer as a call. */
export const finish = defineRunTool({
  name: "finish",
  description: "Give your final answer and end your work.",
  input: z.object({
    message: z.string().describe("The answer"),
    outputs: z
      .record(z.string(), Json)
      .optional()
      .describe("One value per asked key, where several are asked for"),
  }),
  *call({ message, outputs }) {
    return { ...done("Done."), ends: { kind: "finish", message, ...defined({ outputs }) } };
  },
});

export const rejectTask = defineRunTool({
  name: "reject_task",
  description: "Say that the task cannot be done, and why. It ends your work.",
  input: z.object({ reason: z.string().min(1).max(4000) }),
  *call({ reason }) {
    return { ...done("The task is given back."), ends: { kind: "reject", reason } };
  },
});
