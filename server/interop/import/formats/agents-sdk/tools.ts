import { defined } from "@/server/domain/base/defined";
import { plainAddress } from "@/server/interop/tool-declarations";
import { type Bound, type Evaluator, NO_SCOPE } from "../../code/evaluator";
import { calledName } from "../../code/literals";
import type { CallExpr, Place } from "../../code/program";

/** A tool that an agent of the code has. */
interface CodeTool {
  name: string;
  /** What it is, for people, where its name does not say it. */
  description?: string;
  /** Where its own code stands. */
  code?: Place;
  /** Whether a person approves its calls. */
  isApproved?: boolean;
}

/** What OpenAI runs itself, by the names of both languages. */
const HOSTED: ReadonlyMap<string, string> = new Map(
  [
    { name: "web_search", calls: ["webSearchTool", "WebSearchTool"] },
    { name: "file_search", calls: ["fileSearchTool", "FileSearchTool"] },
    { name: "code_interpreter", calls: ["codeInterpreterTool", "CodeInterpreterTool"] },
    { name: "image_generation", calls: ["imageGenerationTool", "ImageGenerationTool"] },
    { name: "computer_use", calls: ["computerTool", "ComputerTool"] },
    { name: "shell", calls: ["shellTool", "ShellTool", "LocalShellTool"] },
    { name: "apply_patch", calls: ["applyPatchTool", "ApplyPatchTool"] },
  ].flatMap(({ name, calls }) => calls.map((call) => [call, name] as const)),
);

/** What a tool in an agent's list is; null where the code does not say. */
export function toolOf(item: Bound, evaluator: Evaluator): CodeTool | null {
  const routine = item.expr.is === "call" ? null : evaluator.functionOf(item);
  if (routine) {
    const decorator = routine.decorators.find((one) => one.is === "call") ?? null;
    const named = decorator && evaluator.argument({ expr: decorator, scope: NO_SCOPE }, "name_override");
    return {
      ...ownCode((named && evaluator.text(named)) ?? routine.name, routine),
      isApproved: asksFirst(decorator && { expr: decorator, scope: NO_SCOPE }, evaluator),
    };
  }
  const { expr, scope } = evaluator.resolve(item);
  if (expr.is === "call") {
    const call = { expr, scope };
    const called = calledName(expr) ?? "";
    if (called === "hostedMcpTool" || called === "HostedMCPTool") return hostedServer(call, evaluator);
    const hosted = HOSTED.get(called);
    if (hosted) return { name: hosted };
    const named = evaluator.argument(call, "name") ?? evaluator.positional(call);
    const name = named && evaluator.text(named);
    if (name) return { ...ownCode(name, expr), isApproved: asksFirst(call, evaluator) };
  }
  if (item.expr.is !== "name") return null;
  return expr === item.expr ? ownCode(item.expr.name) : ownCode(item.expr.name, expr);
}

/** Whether a call says that a person approves: always, or where code decides so. */
export function asksFirst(bound: Bound | null, evaluator: Evaluator): boolean {
  if (bound?.expr.is !== "call") return false;
  const asks = evaluator.argument({ ...bound, expr: bound.expr }, "needs_approval", "needsApproval")?.expr;
  return asks !== undefined && asks.is !== "nothing" && !(asks.is === "boolean" && !asks.value);
}

const ownCode = (name: string, code?: Place): CodeTool => ({
  name: name.slice(0, 200),
  ...defined({ code: code ? { from: code.from, to: code.to } : undefined }),
});

function hostedServer(call: Bound<CallExpr>, evaluator: Evaluator): CodeTool {
  const config = evaluator.argument(call, "tool_config");
  const setting = (...names: string[]) => {
    const value = (config && evaluator.entry(config, ...names)) ?? evaluator.argument(call, ...names);
    return { isGiven: value !== null, text: value && evaluator.text(value) };
  };
  const asks = setting("requireApproval", "require_approval");
  const name = setting("serverLabel", "server_label").text ?? "mcp";
  const address = setting("serverUrl", "server_url").text;
  return {
    name: name.slice(0, 200),
    description: `"${name}" is an MCP server${address ? ` (${plainAddress(address)})` : ""}; no connection was made. Add it on the Tools page.`,
    isApproved: asks.isGiven && asks.text !== "never",
  };
}
