import { z } from "zod";
import { type ShareChoice, type SharedFile, sharedRun } from "@/server/domain/run/share/shared-run";
import { SHARE_POLICY, sharePage } from "@/server/interop/share/page";
import { redact } from "@/server/secrets/redact";
import { operationsOf } from "../operation";
import type { Services } from "../services";
import { wholeLog } from "./past";
import { ByRun, runOf } from "./runs";

const { query } = operationsOf("Runs");

/** How much of one file, and of all files together, goes into a shared file; characters. */
const MOST_OF_A_FILE = 100_000;
const MOST_OF_FILES = 2_000_000;

/** A run for people who have no Troupe. */
export const shareOperations = {
  share: query({
    name: "shareRun",
    summary: "Export a run as one HTML file",
    about:
      "Opens offline, with a timeline. Always includes the workflow, steps, times and costs; the rest is optional. Secrets are redacted.",
    needs: "read",
    input: ByRun.extend({
      prompts: z
        .boolean()
        .default(true)
        .meta({ description: "Agent messages, questions to people, and their answers" }),
      tool_results: z.boolean().default(false).meta({ description: "Tool call arguments and results" }),
      files: z.boolean().default(false).meta({ description: "Files in the run's workspace" }),
      state: z.boolean().default(true).meta({ description: "Input, state and output" }),
    }),
    problems: ["not_found"],
    http: {
      route: "GET /runs/{id}/share",
      success: "The file, as text/html",
      file: ({ file_name, html }: { file_name: string; html: string }) => ({
        text: html,
        headers: {
          "content-type": "text/html; charset=utf-8",
          "content-disposition": `attachment; filename="${file_name}"`,
          "content-security-policy": SHARE_POLICY,
        },
      }),
    },
    run(services, { run_id, ...choice }) {
      const { created_at } = runOf(services, run_id);
      const shared = sharedRun(wholeLog(services, run_id), choice, filesOf(services, run_id, choice));
      const day = new Date(created_at).toISOString().slice(0, 10);
      // Whatever was chosen: keys that we hold, and what looks like one, are taken out of all of it.
      const html = sharePage(redact(JSON.stringify(shared)));
      return { file_name: `run-${day}-${run_id.slice(-6)}.html`, html };
    },
  }),
};

function filesOf({ workspace }: Services, runId: string, { files }: ShareChoice): SharedFile[] {
  if (!files) return [];
  let room = MOST_OF_FILES;
  return workspace.list(runId).flatMap(({ path, size, kind }) => {
    if (kind !== "file") return [];
    const part = workspace.read(runId, { path }, { limit: Math.min(MOST_OF_A_FILE, room) });
    if (!part) return [];
    room -= part.content.length;
    const rest = part.next_offset === null ? "" : "\n[The rest of this file was left out.]";
    return [{ path, size, text: part.content + rest }];
  });
}
