import { createHash } from "node:crypto";
import { and, asc, count, countDistinct, desc, eq, max, sql, sum } from "drizzle-orm";
import { z } from "zod";
import { type Db, writeTransaction } from "@/db/open";
import { runs, workspaceFiles } from "@/db/schema";
import { namedError } from "@/server/domain/base/named-error";
import { LIMITS } from "@/server/limits";
import { newAncestors } from "./ancestors";

/** file: written by an agent or a person; result: the whole output of a tool call that was cut for the model. */
export type FileKind = "file" | "result";

/** Who wrote a file; what is not known is left out. */
export const FileSource = z.object({
  agent_id: z.string().optional(),
  role_name: z.string().optional(),
  node_id: z.string().optional(),
  task_id: z.string().optional(),
  tool_name: z.string().optional(),
});
export type FileSource = z.infer<typeof FileSource>;

export interface WrittenFile {
  artifact_id: string;
  path: string;
  /** Counts the writes to this path, from 1. */
  version: number;
  /** Bytes of UTF-8. */
  size: number;
}
export interface WorkspaceFile extends WrittenFile {
  kind: FileKind;
  media_type: string;
  source: FileSource;
  /** It may contain untrusted content: the run had read some when it was written. */
  tainted: boolean;
  created_at: number;
}
/** A part of a file. Places are counted in UTF-16 units, as JavaScript and most models do; no character is cut in two. */
export interface FilePart extends WorkspaceFile {
  content: string;
  offset: number;
  /** Of the whole file. */
  total: number;
  /** Offset at which to continue reading; null at the end. */
  next_offset: number | null;
}

export type FileAddress = { path: string; version?: number | undefined } | { artifact_id: string };

export interface FileWrite {
  /** The key of the step that writes: a repeated write gives the first one's result and writes nothing. */
  writtenBy: string;
  kind?: FileKind;
  source?: FileSource;
  /** Puts the content behind what the newest version holds. */
  append?: boolean;
  /** Whether it may contain untrusted content; if absent, it may. Appended text keeps the file's mark. */
  tainted?: boolean;
}

/** A rejected write, as a message for the caller. */
export class WorkspaceError extends namedError("WorkspaceError") {
  constructor(
    readonly code: "BAD_PATH" | "TOO_LARGE",
    message: string,
  ) {
    super(message);
  }
}

/** Results lie here, out of the way of what agents write. */
export const RESULTS_FOLDER = "tool-results";

// Names that Windows keeps for itself: a workspace can be downloaded.
const RESERVED = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;
const SEGMENT = /^[\p{L}\p{N}\p{M}_.\- ()+@,=]{1,80}$/u;
const MAX_SEGMENTS = 8;

/**
 * A path in its stored form: without a leading `./`, doubled slashes and other encodings of the same letters. Throws
 * WorkspaceError.
 */
export function normalPath(text: string): string {
  const refuse = (why: string): never => {
    throw new WorkspaceError("BAD_PATH", `"${shown(text)}" can't be a file path: ${why}.`);
  };
  const path = text
    .normalize("NFC")
    .replace(/\/{2,}/g, "/")
    .replace(/^(?:\.\/)+/, "");
  if (path.length > LIMITS.workspace.pathLength)
    return refuse(`it has more than ${LIMITS.workspace.pathLength} characters`);
  if (path === "") return refuse("it has no file name");
  if (text.startsWith("/")) return refuse("it must not start with /; files are in the run's workspace");
  const segments = path.split("/");
  if (segments.length > MAX_SEGMENTS) return refuse(`it has more than ${MAX_SEGMENTS} parts`);
  for (const segment of segments) {
    if (segment === "") return refuse("it ends with /");
    if (segment === "." || segment === "..") return refuse("it contains . or ..");
    if (!SEGMENT.test(segment))
      return refuse("use letters, digits, spaces and _ . - ( ) + @ , = with at most 80 characters per part");
    if (/^ |[ .]$/.test(segment)) return refuse("a part starts with a space, or ends with a space or dot");
    if (RESERVED.test(segment)) return refuse(`"${segment}" is a reserved name`);
  }
  return path;
}

const columns = {
  artifact_id: workspaceFiles.artifactId,
  path: workspaceFiles.path,
  version: workspaceFiles.version,
  size: workspaceFiles.size,
  kind: workspaceFiles.kind,
  media_type: workspaceFiles.mediaType,
  source: workspaceFiles.source,
  tainted: workspaceFiles.tainted,
  created_at: workspaceFiles.createdAt,
};

/** The files of runs. They are rows of the database and never touch the disk, so a path leads nowhere else. */
export class WorkspaceStore {
  private readonly ancestors: ReturnType<typeof newAncestors>;

  constructor(
    private readonly db: Db,
    private readonly now: () => number = Date.now,
  ) {
    this.ancestors = newAncestors(db);
  }

  /** Throws WorkspaceError. */
  write(runId: string, path: string, content: string, options: FileWrite): WrittenFile {
    return writeTransaction(this.db, () => this.writeVersion(runId, path, content, options));
  }

  /**
   * The newest version by default. Artifacts of other runs are not found, except tool results of the runs that this one
   * was forked from: the fork's recorded answers refer to them. Throws WorkspaceError for invalid paths.
   */
  read(
    runId: string,
    address: FileAddress,
    part: { offset?: number | undefined; limit?: number | undefined } = {},
  ): FilePart | undefined {
    const runIds = "artifact_id" in address ? [runId, ...this.ancestors(runId).map(({ id }) => id)] : [runId];
    for (const id of runIds) {
      const found = this.readIn(id, address, part);
      if (found && (id === runId || found.kind === "result")) return found;
    }
    return undefined;
  }

  /** The newest version of every file, by path. */
  list(runId: string): WorkspaceFile[] {
    const latest = this.db
      .select({ path: workspaceFiles.path, version: max(workspaceFiles.version).as("latest") })
      .from(workspaceFiles)
      .where(eq(workspaceFiles.runId, runId))
      .groupBy(workspaceFiles.path)
      .as("latest_versions");
    return this.db
      .select(columns)
      .from(workspaceFiles)
      .innerJoin(
        latest,
        and(eq(workspaceFiles.path, latest.path), eq(workspaceFiles.version, sql`${latest.version}`)),
      )
      .where(eq(workspaceFiles.runId, runId))
      .orderBy(asc(workspaceFiles.path))
      .all()
      .map(toFile);
  }

  /** All versions of a file, the oldest first. */
  versions(runId: string, path: string): WorkspaceFile[] {
    return this.db
      .select(columns)
      .from(workspaceFiles)
      .where(and(eq(workspaceFiles.runId, runId), eq(workspaceFiles.path, normalPath(path))))
      .orderBy(asc(workspaceFiles.version))
      .all()
      .map(toFile);
  }

  private newest(runId: string, path: string) {
    return this.db
      .select({
        version: workspaceFiles.version,
        content: workspaceFiles.content,
        tainted: workspaceFiles.tainted,
      })
      .from(workspaceFiles)
      .where(and(eq(workspaceFiles.runId, runId), eq(workspaceFiles.path, path)))
      .orderBy(desc(workspaceFiles.version))
      .limit(1)
      .get();
  }

  /** The same for the same file in each run of a lineage, so that a fork tells models what its original told them. */
  private artifactId(runId: string, path: string, version: number): string {
    const run = this.db.select({ root: runs.rootRun }).from(runs).where(eq(runs.id, runId)).get();
    const root = run?.root ?? runId;
    const hash = createHash("sha256").update(JSON.stringify([root, path, version]));
    return `art_${hash.digest("hex").slice(0, 20)}`;
  }

  private usage(runId: string) {
    return this.db
      .select({
        bytes: sum(workspaceFiles.size).mapWith(Number),
        files: countDistinct(workspaceFiles.path),
        versions: count(),
      })
      .from(workspaceFiles)
      .where(eq(workspaceFiles.runId, runId))
      .get();
  }

  /** Throws WorkspaceError. */
  private writeVersion(runId: string, path: string, given: string, options: FileWrite): WrittenFile {
    const { kind = "file", source = {}, append = false, tainted = true } = options;
    const place = normalPath(path);
    if (kind === "file" && place.split("/")[0] === RESULTS_FOLDER)
      throw new WorkspaceError(
        "BAD_PATH",
        `The folder ${RESULTS_FOLDER} is for tool results. Choose another path.`,
      );
    const writtenBy = `${runId}:${options.writtenBy}`;
    const before = this.db
      .select({
        artifact_id: columns.artifact_id,
        path: columns.path,
        version: columns.version,
        size: columns.size,
      })
      .from(workspaceFiles)
      .where(eq(workspaceFiles.writtenBy, writtenBy))
      .get();
    if (before) return before;
    const last = this.newest(runId, place);
    const content = (append ? (last?.content ?? "") + given : given).toWellFormed();
    const size = Buffer.byteLength(content);
    refuseTooMuch(place, size, last === undefined, this.usage(runId));
    const version = (last?.version ?? 0) + 1;
    const written = { artifact_id: this.artifactId(runId, place, version), path: place, version, size };
    this.db
      .insert(workspaceFiles)
      .values({
        runId,
        path: place,
        version: written.version,
        artifactId: written.artifact_id,
        kind,
        mediaType: mediaTypeOf(place),
        size,
        content,
        source: JSON.stringify(source),
        tainted: tainted || (append && last?.tainted === true),
        writtenBy,
        createdAt: this.now(),
      })
      .run();
    return written;
  }

  private readIn(
    runId: string,
    address: FileAddress,
    part: { offset?: number | undefined; limit?: number | undefined },
  ): FilePart | undefined {
    const isThis =
      "artifact_id" in address
        ? eq(workspaceFiles.artifactId, address.artifact_id)
        : and(
            eq(workspaceFiles.path, normalPath(address.path)),
            address.version === undefined ? undefined : eq(workspaceFiles.version, address.version),
          );
    const row = this.db
      .select({ ...columns, content: workspaceFiles.content })
      .from(workspaceFiles)
      .where(and(eq(workspaceFiles.runId, runId), isThis))
      .orderBy(desc(workspaceFiles.version))
      .limit(1)
      .get();
    if (!row) return undefined;
    const { content, ...file } = row;
    return { ...toFile(file), ...partOf(content, part.offset ?? 0, part.limit) };
  }
}

interface Usage {
  bytes: number | null;
  files: number;
  versions: number;
}

function refuseTooMuch(path: string, size: number, isNew: boolean, usage: Usage | undefined) {
  const { fileBytes, runBytes, files, versions } = LIMITS.workspace;
  const refuse = (message: string) => {
    throw new WorkspaceError("TOO_LARGE", message);
  };
  if (size > fileBytes)
    refuse(`${path} would have ${mebibytes(size)}. A file can have at most ${mebibytes(fileBytes)}.`);
  if (!usage) return;
  if (isNew && usage.files >= files) refuse(`A run can have at most ${files} files.`);
  if (usage.versions >= versions) refuse(`A run can have at most ${versions} versions of its files.`);
  if ((usage.bytes ?? 0) + size > runBytes)
    refuse(`A run's files can have at most ${mebibytes(runBytes)}, including earlier versions.`);
}

const mebibytes = (bytes: number) => `${Math.round((bytes / 1024 / 1024) * 10) / 10} MiB`;

function toFile(
  row: Omit<WorkspaceFile, "kind" | "source"> & { kind: string; source: string },
): WorkspaceFile {
  const source = FileSource.safeParse(JSON.parse(row.source));
  return {
    ...row,
    kind: row.kind === "result" ? "result" : "file",
    source: source.success ? source.data : {},
  };
}

function partOf(content: string, offset: number, limit = Number.POSITIVE_INFINITY) {
  const from = wholeAt(content, Math.min(Math.max(0, Math.trunc(offset)), content.length));
  let to = wholeAt(content, Math.min(content.length, from + Math.max(1, limit)));
  // A first character of two units goes in whole, or reading would stand still.
  if (to <= from && from < content.length) to = Math.min(content.length, from + 2);
  return {
    content: content.slice(from, to),
    offset: from,
    total: content.length,
    next_offset: to < content.length ? to : null,
  };
}

/** The offset itself, or the one before if it is between two halves of a character. */
const wholeAt = (text: string, at: number) =>
  at > 0 && at < text.length && (text.codePointAt(at - 1) ?? 0) > 0xffff ? at - 1 : at;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  md: "text/markdown",
  json: "application/json",
  csv: "text/csv",
  html: "text/html",
  xml: "application/xml",
  yaml: "application/yaml",
  yml: "application/yaml",
  js: "text/javascript",
  ts: "text/typescript",
  py: "text/x-python",
  css: "text/css",
  svg: "image/svg+xml",
};
const mediaTypes = new Map(Object.entries(MEDIA_TYPES));

/** By the ending of the name; plain text where that says nothing. For display: downloads must not trust it. */
const mediaTypeOf = (path: string) =>
  mediaTypes.get(path.slice(path.lastIndexOf(".") + 1).toLowerCase()) ?? "text/plain";

/** The start of a text from outside, without what could confuse a terminal or a model. */
const shown = (text: string) => text.slice(0, 80).replace(/[\p{C}]/gu, "?");
