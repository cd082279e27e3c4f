import { type Findings, isRaw, join, type Raw } from "@/server/domain/base/lenient-reader";
import { declaredName, programEntry, serverEntry } from "./tool-declarations";
import { BUILTIN_TOOLS } from "./tool-names";

/** The items of a list, or of a map whose keys are their names, with their places. */
export function entries(value: unknown, at: string): [at: string, value: unknown][] {
  if (Array.isArray(value)) return value.map((item, position) => [join(at, position), item]);
  if (!isRaw(value)) return [];
  return Object.entries(value).map(([name, item]) => [
    join(at, name),
    isRaw(item) ? { name, ...item } : { name },
  ]);
}

/**
 * The tools that a team declares, by name: under which name roles may use them here, or null. None is installed: each
 * finding says what a person can do to have it.
 */
export function readTools(value: unknown, findings: Findings): Map<string, string | null> {
  const known = new Map<string, string | null>();
  for (const [at, item] of entries(value, "tools")) {
    const tool: Raw = isRaw(item) ? item : {};
    const name = typeof item === "string" ? item : typeof tool.name === "string" ? tool.name : "";
    if (!name) {
      findings.dropped(at, "Skipped: not a tool.");
      continue;
    }
    const type = tool.type ?? "builtin";
    const read = TOOL_READERS.get(type);
    if (!read)
      findings.dropped(at, `"${name}" has the unknown type ${JSON.stringify(type)} and was left out.`);
    known.set(name, read ? read(name, tool, at, findings) : null);
  }
  return known;
}

type ToolReader = (name: string, tool: Raw, at: string, findings: Findings) => string | null;

const TOOL_READERS: ReadonlyMap<unknown, ToolReader> = new Map<unknown, ToolReader>([
  ["builtin", readBuiltin],
  ["custom", readProgram],
  ["python_function", readProgram],
  ["mcp", readServer],
  ["hitl", readPersonTool],
]);

/** Suggests what the admin can add, or says that there is too little to suggest it. */
function suggest(findings: Findings, at: string, message: string, entry: string | null): void {
  if (entry === null) findings.dropped(at, `${message} See server/tools/operator/README.md.`);
  else findings.suggests(at, message, entry);
}

function readProgram(name: string, tool: Raw, at: string, findings: Findings): string {
  const entry = programEntry(name, tool);
  suggest(
    findings,
    at,
    `"${name}" is a program, and files can't add programs. The admin can review it and declare it${entry === null ? "" : " with this entry"} under "tools" in the file that TROUPE_TOOLS_FILE names.`,
    entry,
  );
  return declaredName(name);
}

function readServer(name: string, tool: Raw, at: string, findings: Findings): string {
  const entry = serverEntry(name, tool);
  const how =
    typeof tool.command === "string"
      ? 'The admin can review it and declare it with this entry under "mcp_servers" in the file that TROUPE_TOOLS_FILE names.'
      : "Add it under this name on the Tools page.";
  const near = entry?.includes("TROUPE_MCP_ALLOWED_HOSTS")
    ? " It is on a private network, so the admin has to allow its host."
    : "";
  suggest(
    findings,
    at,
    `"${name}" is an MCP server; no connection was made. ${how}${near} Roles that list it can then use its approved tools.`,
    entry,
  );
  return `mcp:${declaredName(name)}/*`;
}

function readBuiltin(name: string, { config }: Raw, at: string, findings: Findings): string | null {
  const isBuiltin = BUILTIN_TOOLS.has(name);
  if (isBuiltin) findings.info(at, `"${name}" is built in; roles that list it can use it.`);
  else findings.dropped(at, `There is no tool "${name}" here.`);
  if (isRaw(config) && Object.keys(config).length > 0)
    findings.dropped(join(at, "config"), `Configure "${name}" on the Tools page, not in team files.`);
  return isBuiltin ? name : null;
}

function readPersonTool(name: string, { config }: Raw, at: string, findings: Findings): string {
  const isBuiltin = BUILTIN_TOOLS.has(name);
  const own = isBuiltin ? name : personToolFor(name);
  if (isBuiltin) findings.info(at, `"${name}" is built in; roles that list it use it to ask a person.`);
  else findings.changed(at, `"${name}" asks a person; it was kept as "${own}".`);
  for (const key of isRaw(config) ? Object.keys(config) : [])
    findings.dropped(
      join(at, `config.${key}`),
      `"${key}" was left out: agents set it with each request, not in team files.`,
    );
  return own;
}

const personToolFor = (name: string): string =>
  /escalat/i.test(name)
    ? "escalate_to_human"
    : /feedback|review|question/i.test(name)
      ? "request_feedback"
      : "request_approval";
