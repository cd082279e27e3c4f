import { LIMITS } from "@/server/limits";
import { ImportAnswer, ImportRequest, importOperations } from "@/server/operations/imports";
import { endpoint } from "./endpoint";
import { performFor } from "./expose";

const { name, summary, about, tag } = importOperations.importFiles;

export const importEndpoints = [
  endpoint({
    method: "POST",
    path: "/imports",
    name,
    summary,
    ...(about ? { about } : {}),
    tag,
    body: ImportRequest,
    maxBytes: LIMITS.body.import,
    success: {
      status: 200,
      about: "What the files bring, and with `confirm` what was saved",
      schema: ImportAnswer,
    },
    refusals: [403, 404, 412, 422],
    answer: async (call) => ({
      body: ImportAnswer.parse(await performFor(importOperations.importFiles, call.body, call)),
    }),
  }),
];
