import { z } from "zod";
import { defineTool, ToolFailure } from "../define";

export const currentTime = (now: () => number) =>
  defineTool({
    name: "current_time",
    description: "Returns the current date and time, in UTC and in a time zone.",
    input: z.object({
      timezone: z.string().max(64).default("UTC").describe("An IANA name such as Europe/Berlin"),
    }),
    source: "builtin",
    home: "worker",
    risk: "LOW",
    read_only: true,
    execute({ timezone }) {
      const at = new Date(now());
      try {
        const local = new Intl.DateTimeFormat("en-GB", {
          timeZone: timezone,
          dateStyle: "full",
          timeStyle: "long",
        }).format(at);
        return { utc: at.toISOString(), timezone, local };
      } catch {
        throw new ToolFailure(400, "There is no such time zone. Use an IANA name such as Europe/Berlin.");
      }
    },
  });
