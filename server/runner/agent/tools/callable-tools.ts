import { propertiesOf } from "@/server/domain/base/json-schema";
import { isSince } from "@/server/domain/run/edition";
import type { CallableTool, ToolSpec } from "@/server/domain/tool/tool";
import type { ToolRuntime } from "@/server/runner/node/ports";
import { RUN_JAVASCRIPT } from "@/server/tools/sandbox/run-javascript";

/** An agent, as far as its programs are concerned. */
interface Caller {
  readonly run: Pick<ToolRuntime, "s">;
  readonly toolNames: readonly string[];
  readonly crewTools: ReadonlyMap<string, unknown>;
  tool(name: string): ToolSpec | undefined;
}

/** The agent's tools that a program of `spec` may call: registered ones that run no programs themselves. */
export function callableBy(agent: Caller, spec: ToolSpec): CallableTool[] | undefined {
  if (!spec.runs_programs || !isSince(agent.run.s.run, 5)) return undefined;
  return agent.toolNames.flatMap((name) => {
    const tool = agent.tool(name);
    if (!tool || tool.runs_programs || name === RUN_JAVASCRIPT || agent.crewTools.has(name)) return [];
    return [{ name, parameters: Object.keys(propertiesOf(tool.input_schema)) }];
  });
}

/** How a program calls them, for the description of its tool. */
export function callsText(callable: readonly CallableTool[] = []): string {
  const [first] = callable;
  if (!first) return "";
  const { name, parameters } = first;
  const given = parameters.length > 0 ? `${parameters[0]}=...` : "";
  return ` Programs can call your other tools with JSON values, such as tools["${name}"](${given}), or as a function of that name if Python allows it. A failed call raises ToolError.`;
}
