import { isText } from "@/server/domain/base/guards";
import { isRaw } from "@/server/domain/base/lenient-reader";
import { claimEach, type UnsupportedFormat } from "../format";
import { rawsOf } from "../values";

/** Roboco's other files, besides teams and plans: recognized by name only, with a hint where their content belongs. */

/** One turn of an agent: words, and the calls that it made. */
const taskStep: UnsupportedFormat = {
  id: "roboco-task-step",
  label: "a TaskStep, the record of one turn of an agent",
  instead:
    "A record is nothing to do again. What is to be done comes in as a plan.json, and who works together as a team file; what agents of Troupe said and called is told by GET /api/v1/runs/{id}/agents.",
  recognise: claimEach(({ value }) =>
    isRaw(value) && value.step_id !== undefined && rawsOf(value.parts).some(({ type }) => isText(type))
      ? 2
      : null,
  ),
};

const TYPES: ReadonlySet<unknown> = new Set(["builtin", "custom", "mcp", "hitl"]);

/** The tools of an installation. */
const tools: UnsupportedFormat = {
  id: "roboco-tools",
  label: "a list of tools",
  instead:
    "No file that is imported brings tools along: what runs here is for whoever runs Troupe to say. Built-in tools are there already. Programs (custom) are declared in the file that TROUPE_TOOLS_FILE names, as server/tools/operator/README.md says; MCP servers are added in the settings; and that people agree first (hitl) is said at roles, as when they ask.",
  recognise: claimEach(({ value }) =>
    isRaw(value) &&
    Object.keys(value).length === 1 &&
    rawsOf(value.tools).some(({ name, type }) => isText(name) && TYPES.has(type))
      ? 2
      : null,
  ),
};

export const ROBOCO: readonly UnsupportedFormat[] = [taskStep, tools];
