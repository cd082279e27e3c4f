import { z } from "zod";
import { FINDING_LEVELS } from "@/server/domain/base/lenient-reader";
import { Json } from "@/server/domain/base/values";
import { LIMITS } from "@/server/limits";

// What the API says, as schemas: the answers are checked against them in tests, and the OpenAPI file is made from them.

export const Time = z.int().meta({ description: "Unix time in milliseconds" });

export const Values = z.record(z.string(), Json);

export const Finding = z.object({
  level: z.enum(FINDING_LEVELS),
  at: z.string().meta({ description: "Location in the file" }),
  message: z.string(),
  file: z.string().optional().meta({ description: "Which file, if there are several" }),
  line: z.int().optional().meta({ description: "Line in that file, starting at 1" }),
  node_id: z.string().optional().meta({ description: "The node it was imported as" }),
  snippet: z.string().optional().meta({ description: "What to add elsewhere instead, ready to copy" }),
});

export const ApiErrorBody = z.object({
  error: z.object({
    code: z.string().meta({ description: "Stable error code for programs" }),
    message: z.string().meta({ description: "Error message for people" }),
    doc_url: z.string().optional().meta({ description: "Path of the docs page that explains the code" }),
    details: Json.optional(),
  }),
});

export const Page = z.object({
  limit: z.coerce.number().int().min(1).max(LIMITS.page.largest).default(LIMITS.page.normal),
  cursor: z.string().max(200).optional().meta({ description: "The next_cursor of the previous page" }),
});
