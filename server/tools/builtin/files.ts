import { z } from "zod";
import type { FileAddress, WorkspaceStore } from "@/server/store/runs/workspace";
import { defineTool, Labelled, ToolFailure, type ToolInterface, type ToolScope } from "../define";
import { runOf, sourceOf } from "./caller";

type Files = Pick<WorkspaceStore, "write" | "read" | "list">;

const Path = z.string().min(1).max(1_000).describe("A path in the run's workspace, such as notes/plan.md");
const Part = {
  offset: z.number().int().min(0).default(0).describe("Offset of the first character to read"),
  limit: z.number().int().min(1).max(100_000).default(10_000).describe("Maximum number of characters"),
};
const LISTED = 50;

/**
 * The files of a run: versions in the database, never on the server's disk. Files written before the run had read
 * untrusted content are trusted when read again; each version keeps its own label.
 */
export function fileTools(files: Files): ToolInterface[] {
  const write = (
    tool: string,
    input: { path: string; content: string; append?: boolean },
    scope: ToolScope,
  ) => {
    const written = withToolFailures(() =>
      files.write(runOf(scope, tool).id, input.path, input.content, {
        // The pipeline may keep the result of the same call under the call's own key.
        writtenBy: `${scope.idempotencyKey}/write`,
        append: input.append ?? false,
        tainted: scope.tainted !== false,
        source: sourceOf(scope, tool),
      }),
    );
    return { ...written };
  };
  const read = (
    tool: string,
    address: FileAddress,
    part: { offset: number; limit: number },
    scope: ToolScope,
  ) => {
    const run = runOf(scope, tool);
    const found = withToolFailures(() => files.read(run.id, address, part));
    if (!found) throw new ToolFailure(404, missing(address, files, run.id));
    const { tainted, artifact_id, path, version, media_type, content, offset, total, next_offset } = found;
    return new Labelled(
      { artifact_id, path, version, media_type, offset, total, next_offset, content },
      tainted,
    );
  };
  return [
    defineTool({
      name: "create_artifact",
      description:
        "Saves work as a file of this run, where people and the other agents find it. An existing file gets a new version.",
      input: z.object({ path: Path, content: z.string() }),
      source: "builtin",
      risk: "MEDIUM",
      idempotent: true,
      resources: ["file:{path}"],
      execute: (input, scope) => write("create_artifact", input, scope),
    }),
    defineTool({
      name: "file_write",
      description: "Writes a file in this run's workspace, or appends to it. Earlier versions are kept.",
      input: z.object({
        path: Path,
        content: z.string(),
        append: z.boolean().default(false).describe("Appends instead of replacing"),
      }),
      source: "builtin",
      risk: "MEDIUM",
      // Also where it appends: a repeated attempt at one call writes once.
      idempotent: true,
      resources: ["file:{path}"],
      execute: (input, scope) => write("file_write", input, scope),
    }),
    defineTool({
      name: "file_read",
      description: "Reads a file from this run's workspace: the newest version, unless you name another.",
      input: z.object({ path: Path, version: z.number().int().min(1).optional(), ...Part }),
      source: "builtin",
      risk: "LOW",
      read_only: true,
      idempotent: true,
      taints: true,
      resources: ["file:{path}"],
      execute: ({ path, version, offset, limit }, scope) =>
        read("file_read", { path, version }, { offset, limit }, scope),
    }),
    defineTool({
      name: "read_artifact",
      description:
        "Reads an artifact of this run by its id or path, such as the full text of a truncated result; continue at next_offset.",
      input: z.object({ artifact_id: z.string().max(100).optional(), path: Path.optional(), ...Part }),
      source: "builtin",
      risk: "LOW",
      read_only: true,
      idempotent: true,
      taints: true,
      execute({ artifact_id, path, offset, limit }, scope) {
        if ((artifact_id === undefined) === (path === undefined))
          throw new ToolFailure(400, "Give either artifact_id or path.");
        const address = artifact_id === undefined ? { path: path ?? "" } : { artifact_id };
        return read("read_artifact", address, { offset, limit }, scope);
      },
    }),
  ];
}

/** The store's refusals are known by name: tools import no store. */
function withToolFailures<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof Error && error.name === "WorkspaceError" && "code" in error)
      throw new ToolFailure(error.code === "TOO_LARGE" ? 413 : 400, error.message);
    throw error;
  }
}

function missing(address: FileAddress, files: Files, runId: string): string {
  if ("artifact_id" in address) return "This run has no artifact with that id.";
  const paths = files.list(runId).map(({ path }) => path);
  const more = paths.length > LISTED ? ` and ${paths.length - LISTED} more` : "";
  const there =
    paths.length === 0
      ? "The workspace is empty."
      : `There are: ${paths.slice(0, LISTED).join(", ")}${more}.`;
  return `There is no such file${address.version === undefined ? "" : " in that version"}. ${there}`;
}
