import { LineCounter, parseDocument, stringify } from "yaml";
import { jsonTextProblem } from "../domain/json-limits";
import { cleanCopy, type Finding, Findings, isRaw, unwrapText } from "../domain/reading";
import { RoleDefinition } from "../domain/role";
import { readRoleList } from "../domain/roles/read-roles";
import { writeTersely } from "../domain/writing";

const MAX_BYTES = 256 * 1024;

/**
 * Reads roles from YAML or JSON: a list, one role, a map from name to role, each also under `roles:`. Findings name
 * what was left out; an error among them means that nothing could be read.
 */
export function readRoles(text: string): { roles: RoleDefinition[]; findings: Finding[] } {
  const findings = new Findings();
  const nothing = (message: string) => {
    findings.error("", message);
    return { roles: [], findings: findings.all() };
  };
  if (text.length > MAX_BYTES || new TextEncoder().encode(text).length > MAX_BYTES)
    return nothing("The file is larger than 256 KiB.");
  const plain = unwrapText(text);
  if (!plain) return nothing("The file is empty.");
  const parsed = plain.startsWith("{") || plain.startsWith("[") ? parseJson(plain) : parseYaml(plain);
  if ("problem" in parsed) return nothing(parsed.problem);
  const copy = cleanCopy(parsed.value, findings);
  if (!copy) return nothing("The file is nested too deeply to hold roles.");
  const { value } = copy;
  if (isRaw(value) && (value.nodes !== undefined || value.troupe !== undefined) && value.roles === undefined)
    return nothing("This file holds a workflow, not roles. Read it on the page of workflows.");
  const under = isRaw(value) && value.roles !== undefined;
  const roles = readRoleList(under ? value.roles : value, under ? "roles" : "", findings);
  if (roles.length === 0 && !findings.list.some(({ level }) => level === "error"))
    findings.error("", "No role was found in this file.");
  return { roles, findings: findings.all() };
}

type Parsed = { value: unknown } | { problem: string };

function parseJson(text: string): Parsed {
  const problem = jsonTextProblem(text);
  if (problem) return { problem };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    // YAML's flow style looks alike, and reads what JSON does not.
    return parseYaml(text);
  }
}

function parseYaml(text: string): Parsed {
  // Depth by brackets is checked before parsing; depth by indentation is bounded by the size of the file.
  const problem = nestingProblem(text);
  if (problem) return { problem };
  const lineCounter = new LineCounter();
  try {
    const document = parseDocument(text, {
      schema: "core",
      customTags: null,
      merge: false,
      uniqueKeys: true,
      prettyErrors: false,
      logLevel: "silent",
      lineCounter,
    });
    const error = document.errors[0];
    if (error) {
      const { line, col } = lineCounter.linePos(error.pos[0]);
      return { problem: `This is not YAML: line ${line}, column ${col}: ${error.message}` };
    }
    // Aliases are refused: a few lines of them can stand for gigabytes.
    return { value: document.toJS({ maxAliasCount: 0 }) as unknown };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return {
      problem: /alias/i.test(message)
        ? "The file uses aliases (*name); write the values out."
        : `This is not YAML: ${message}`,
    };
  }
}

/** Brackets that open too deep, wherever they stand: cheaper than finding out which are inside quotes. */
function nestingProblem(text: string): string | null {
  let depth = 0;
  let deepest = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char === 91 || char === 123) deepest = Math.max(deepest, ++depth);
    else if ((char === 93 || char === 125) && depth > 0) depth--;
  }
  if (deepest > 200) return "The file is nested too deeply to hold roles.";
  return /^(?: *(?:- ){65}| {400})/m.test(text) ? "The file is nested too deeply to hold roles." : null;
}

/** Roles as a file that readRoles reads back to the same; sorted by name, without what is as always. */
export function writeRoles(roles: readonly RoleDefinition[], format: "yaml" | "json"): string {
  const file = {
    roles: [...roles]
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
      .map((role) => writeTersely(RoleDefinition, role)),
  };
  return format === "json"
    ? `${JSON.stringify(file, null, 2)}\n`
    : stringify(file, { schema: "core", lineWidth: 100, aliasDuplicateObjects: false });
}
