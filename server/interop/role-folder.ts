import { type FSWatcher, readdirSync, readFileSync, statSync, watch } from "node:fs";
import path from "node:path";
import { readRoleList } from "@/server/domain/agent/read-roles";
import type { RoleDefinition } from "@/server/domain/agent/role";
import {
  cleanCopy,
  type Finding,
  Findings,
  isRaw,
  type Raw,
  withoutNulls,
} from "@/server/domain/base/lenient-reader";
import { asTemplate } from "@/server/domain/text/template/template";
import { readRoles } from "./role-files";
import { parseText } from "./text-files";
import { BUILTIN_TOOLS, ownToolFor } from "./tool-names";

/** Roles from files in a folder, in YAML, JSON, or Markdown with front matter. */
export interface RoleFolder {
  readonly dir: string;
  /** By file name; of several roles of one name only the first. */
  roles(): readonly FolderRole[];
  /** What could not be read, by file. `at` begins with the name of the file. */
  findings(): readonly Finding[];
  /** Reads what has changed since the last time; tells onChange if that changes a role or a finding. */
  refresh(): void;
  /** Stops watching. */
  close(): void;
}

export interface FolderRole {
  role: RoleDefinition;
  /** The name of the file, without its folder. */
  file: string;
}

const MAX_FILES = 500;
const KINDS = /\.(ya?ml|json|md)$/i;
/** Editors write a file in several steps. */
const SETTLE_MS = 200;
/** Network and container file systems report no changes; a folder may also come later than the server. */
const CHECK_MS = 10_000;

interface ReadFile {
  /** Time and size: the file is read again when they change. */
  stamp: string;
  roles: RoleDefinition[];
  findings: Finding[];
}

/**
 * Reads a folder of roles, and again whenever a file in it changes. A missing folder counts as empty. If a file becomes
 * unreadable, its last roles are kept, and a finding says so. `isTool`: which tools exist besides the built-in ones.
 */
export function newRoleFolder(
  dir: string,
  onChange: () => void = () => {},
  isTool: (name: string) => boolean = () => false,
): RoleFolder {
  let files = new Map<string, ReadFile>();
  let shown = collect(files);
  let watcher: FSWatcher | null = null;
  let settling: ReturnType<typeof setTimeout> | undefined;

  const read = () => {
    const next = new Map<string, ReadFile>();
    for (const name of listFiles(dir)) {
      const before = files.get(name);
      const file = readOne(path.join(dir, name), name, before, isTool);
      if (file) next.set(name, file);
    }
    files = next;
    shown = collect(files);
  };
  const refresh = () => {
    const before = JSON.stringify(shown);
    read();
    watchIfThere();
    if (JSON.stringify(shown) !== before) onChange();
  };
  const stopWatching = () => {
    watcher?.close();
    watcher = null;
  };
  const watchIfThere = () => {
    if (watcher) return;
    try {
      watcher = watch(dir, { persistent: false }, () => {
        clearTimeout(settling);
        settling = setTimeout(refresh, SETTLE_MS);
        settling.unref();
      });
      // The folder was removed; the regular check finds it when it comes back.
      watcher.on("error", stopWatching);
    } catch {
      // Not there, or not on a file system that reports changes: the regular check is enough.
    }
  };
  read();
  watchIfThere();
  const regular = setInterval(refresh, CHECK_MS);
  regular.unref();

  return {
    dir,
    roles: () => shown.roles,
    findings: () => shown.findings,
    refresh,
    close() {
      clearInterval(regular);
      clearTimeout(settling);
      stopWatching();
    },
  };
}

function listFiles(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => KINDS.test(name) && !name.startsWith(".") && !/^readme\.md$/i.test(name))
      .sort()
      .slice(0, MAX_FILES);
  } catch {
    return [];
  }
}

function readOne(
  place: string,
  name: string,
  before: ReadFile | undefined,
  isTool: (name: string) => boolean,
): ReadFile | null {
  let stamp: string;
  let text: string;
  try {
    const stat = statSync(place);
    if (!stat.isFile()) return null;
    stamp = `${stat.mtimeMs} ${stat.size}`;
    if (before?.stamp === stamp) return before;
    // The reader refuses larger files; there is no need to hold one in memory for that.
    text = stat.size > 1024 * 1024 ? " ".repeat(300_000) : readFileSync(place, "utf8");
  } catch {
    // Gone between the listing and now, or not ours to read.
    return null;
  }
  const { roles, findings } = readRoleFile(name, text, isTool);
  const placed = findings.map((finding) => ({
    ...finding,
    at: finding.at ? `${name}: ${finding.at}` : name,
  }));
  const failed = roles.length === 0 && findings.some(({ level }) => level === "error");
  if (!failed || !before || before.roles.length === 0) return { stamp, roles, findings: placed };
  const kept: Finding = {
    level: "info",
    at: name,
    message: "Until it can be read, the previous version stays in use.",
  };
  return { stamp, roles: before.roles, findings: [...placed, kept] };
}

function collect(files: ReadonlyMap<string, ReadFile>) {
  const roles = new Map<string, FolderRole>();
  const findings: Finding[] = [];
  for (const [file, read] of files) {
    findings.push(...read.findings);
    for (const role of read.roles) {
      const first = roles.get(role.name);
      if (first)
        findings.push({
          level: "dropped",
          at: file,
          message: `The role "${role.name}" is also in ${first.file}, which was kept.`,
        });
      else roles.set(role.name, { role, file });
    }
  }
  return { roles: [...roles.values()], findings };
}

/** Reads one file of roles; its name decides the format, and names the role that has no name. */
export function readRoleFile(
  name: string,
  text: string,
  isTool: (name: string) => boolean = () => false,
): { roles: RoleDefinition[]; findings: Finding[] } {
  return /\.md$/i.test(name) ? readMarkdown(name, text, isTool) : readRoles(text);
}

/** Matches a text with front matter: its head and its body. */
export const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)(?:\r?\n)?---[ \t]*(?:\r?\n|$)([\s\S]*)$/;

/** As `.claude/agents` and `.github/agents` hold them: what the role is in the head, its prompt in the body. */
function readMarkdown(name: string, text: string, isTool: (name: string) => boolean) {
  const findings = new Findings();
  const [, head, body] = FRONT_MATTER.exec(text) ?? [];
  if (head === undefined || body === undefined) {
    findings.error("", 'The file has no front matter. Add it between two "---" lines at the beginning.');
    return { roles: [], findings: findings.all() };
  }
  const parsed = head.trim() ? parseText(head) : { value: {} };
  const copy = "value" in parsed ? cleanCopy(parsed.value, findings) : null;
  const raw = copy && isRaw(copy.value) ? withoutNulls(copy.value) : readLines(head);
  if (!raw) {
    findings.error(
      "",
      "error" in parsed ? parsed.error : "The front matter must consist of keys and values.",
    );
    return { roles: [], findings: findings.all() };
  }
  raw.name ??= path.basename(name).replace(/(\.(agent|chatmode))?\.md$/i, "");
  if (raw.model !== undefined) {
    findings.dropped("model", "The model is set where the role is used, not in its file.");
    delete raw.model;
  }
  if (raw.tools !== undefined) raw.tools = readTools(raw.tools, findings, isTool);
  // The body is a text, not a template: braces in it are meant as they stand.
  if (body.trim()) raw.system_prompt_template = asTemplate(body.trim());
  const roles = readRoleList(raw, "", findings);
  if (roles.length === 0) findings.error("", "This file has no readable role.");
  return { roles, findings: findings.all() };
}

/** Heads that are nearly YAML: one `name: value` a line, where the value may itself contain ": ". */
function readLines(head: string): Raw | null {
  const fields: Raw = {};
  for (const line of head.split(/\r?\n/)) {
    if (!line.trim()) continue;
    const [, key, value] = /^(name|description|tools|model|color|icon):(.*)$/.exec(line) ?? [];
    if (key === undefined || value === undefined) return null;
    fields[key] = value.trim();
  }
  return fields;
}

function readTools(value: unknown, findings: Findings, isTool: (name: string) => boolean): string[] {
  const listed = typeof value === "string" ? value.split(",") : Array.isArray(value) ? value : [];
  const tools = listed.flatMap((item: unknown, position) => {
    const tool = typeof item === "string" ? item.trim() : "";
    if (!tool) return [];
    const at = `tools.${position}`;
    if (BUILTIN_TOOLS.has(tool) || isTool(tool) || tool.startsWith("mcp:")) return [tool];
    const own = ownToolFor(tool);
    const [, server, inner] = /^mcp__(.{1,200}?)__(.+)$/.exec(tool) ?? [];
    const mapped = own ?? (server && inner ? `mcp:${server}/${inner}` : null);
    if (mapped) findings.changed(at, `"${tool}" is named "${mapped}" here.`);
    else if (tool === "*") findings.dropped(at, "A role can't use all tools. List the tools it needs.");
    else findings.dropped(at, `There is no tool "${tool}" here; it was left out.`);
    return mapped ? [mapped] : [];
  });
  return [...new Set(tools)];
}
