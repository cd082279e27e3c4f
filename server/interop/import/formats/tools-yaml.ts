import { RoleDefinition } from "@/server/domain/agent/role";
import { isText } from "@/server/domain/base/guards";
import { type Findings, isRaw, type Raw } from "@/server/domain/base/lenient-reader";
import { readTools } from "../../team-tools";
import { claimEach, type Imported, nothingImported, type ReadableFormat } from "../format";
import { rawsOf } from "../values";

const TYPES: ReadonlySet<unknown> = new Set(["builtin", "custom", "python_function", "mcp", "hitl"]);

const isToolList = (value: unknown): value is Raw =>
  isRaw(value) &&
  Object.keys(value).length === 1 &&
  rawsOf(value.tools).some(({ name, type }) => isText(name) && TYPES.has(type));

const TOOL_USER = "Tool user";

/** Tools come in as those of one role, because roles grant tools. */
export function asToolUser(names: readonly (string | null)[], findings: Findings): Imported {
  const tools = [...new Set(names.filter(isText))];
  if (tools.length === 0) return nothingImported();
  findings.info(
    "",
    `Roles grant tools, so the new role "${TOOL_USER}" lists these. Rename it, or copy its tools to your own roles.`,
  );
  const description = "Does a task with its tools.";
  return {
    ...nothingImported("Tools"),
    roles: [RoleDefinition.parse({ name: TOOL_USER, description, tools })],
  };
}

/** The `tools` of a Roboco team, alone in a file. */
export const toolsYaml: ReadableFormat = {
  id: "roboco-tools",
  label: "a list of tools",
  recognise: claimEach(({ value }) => (isToolList(value) ? 2 : null)),
  read({ claim, findings }) {
    const [source] = claim.files;
    if (!source || !isToolList(source.value)) return nothingImported();
    return asToolUser([...readTools(source.value.tools, source.on(findings)).values()], findings);
  },
};
