import {
  type Findings,
  isRaw,
  join,
  type Raw,
  readLeniently,
  renameField,
  withoutNulls,
} from "@/server/domain/base/lenient-reader";
import { RoleDefinition } from "./role";

/** Roles as files hold them: a list, a map from name to role, or one role. A name that stands twice is read once. */
export function readRoleList(source: unknown, at: string, findings: Findings): RoleDefinition[] {
  const roles = new Map<string, RoleDefinition>();
  for (const [place, value] of entriesOf(source, at, findings)) {
    const raw = prepare(value);
    const role = readLeniently(RoleDefinition, raw, place, findings);
    if (!role) continue;
    if (isRaw(raw) && raw.rule !== undefined && !role.rule) {
      // Without a rule a model would answer, at a cost. An empty one keeps runs from starting.
      role.rule = { kind: "expression", expression: "" };
      findings.changed(join(place, "rule"), "This rule can't be read. Correct it to run the role.");
    }
    if (roles.has(role.name))
      findings.dropped(place, `Duplicate role "${role.name}". Only the first was kept.`);
    else roles.set(role.name, role);
  }
  return [...roles.values()];
}

function entriesOf(source: unknown, at: string, findings: Findings): [place: string, role: unknown][] {
  if (source === undefined || source === null) return [];
  if (Array.isArray(source)) return source.map((role, position) => [join(at, position), role]);
  if (!isRaw(source)) {
    findings.error(at, "Not a valid list of roles. Expected a list, or an object that maps names to roles.");
    return [];
  }
  if (isRole(source)) return [[at, source]];
  return Object.entries(source).map(([name, role]) => {
    const place = join(at, name);
    return [place, isRaw(role) ? { ...role, name: role.name ?? name } : (role ?? { name })];
  });
}

const isRole = (raw: Raw) =>
  typeof raw.name === "string" ||
  (typeof raw.role === "string" && (raw.goal !== undefined || raw.goals !== undefined));

/** One text where a list is expected counts as a list of one; a comma list of tools is taken apart. */
function prepare(value: unknown): unknown {
  if (!isRaw(value)) return value;
  const raw = withoutNulls(value);
  renameField(raw, ["name", "role"]);
  renameField(raw, ["goals", "goal"]);
  for (const key of ["goals", "responsibilities"])
    if (typeof raw[key] === "string") raw[key] = raw[key].trim() ? [raw[key].trim()] : [];
  if (typeof raw.tools === "string")
    raw.tools = raw.tools
      .split(",")
      .map((tool) => tool.trim())
      .filter(Boolean);
  return raw;
}
