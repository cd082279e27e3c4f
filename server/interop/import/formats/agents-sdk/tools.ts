import { calledName, given, positional, textOf } from "../../code/literals";
import type { CallExpr, Expr, Place } from "../../code/program";
import type { Declarations } from "./declarations";

/** A tool that an agent of the code has. */
interface CodeTool {
  name: string;
  /** What it is, for people, where its name does not say it. */
  says?: string;
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
export function toolOf(item: Expr, declarations: Declarations): CodeTool | null {
  const routine = item.is === "name" ? declarations.routines.get(item.name) : undefined;
  if (routine) {
    const decorator = routine.decorators.find((one) => one.is === "call");
    const named = decorator?.is === "call" ? textOf(given(decorator, "name_override")) : null;
    return { ...ownCode(named ?? routine.name, routine), isApproved: asksFirst(decorator) };
  }
  const expr = declarations.resolved(item) ?? item;
  if (expr.is === "call") {
    const called = calledName(expr) ?? "";
    if (called === "hostedMcpTool" || called === "HostedMCPTool") return hostedServer(expr, declarations);
    const hosted = HOSTED.get(called);
    if (hosted) return { name: hosted };
    const name = declarations.textOf(given(expr, "name")) ?? textOf(positional(expr, 0));
    if (name) return { ...ownCode(name, expr), isApproved: asksFirst(expr) };
  }
  if (expr.is === "name" && expr === item) return ownCode(expr.name);
  return item.is === "name" ? ownCode(item.name, expr) : null;
}

/** Whether a call says that a person approves: always, or where code decides so. */
export function asksFirst(call: Expr | null | undefined): boolean {
  const asks = call?.is === "call" ? given(call, "needs_approval", "needsApproval") : null;
  return asks !== null && asks.is !== "nothing" && !(asks.is === "boolean" && !asks.value);
}

const ownCode = (name: string, code?: Place): CodeTool => ({
  name: name.slice(0, 200),
  ...(code ? { code: { from: code.from, to: code.to } } : {}),
});

function hostedServer(call: CallExpr, declarations: Declarations): CodeTool {
  const config = given(call, "tool_config");
  const exprOf = (...names: string[]): Expr | null => {
    const inner = config?.is === "record" ? config.entries : [];
    const entry = inner.find((one) => !("spread" in one) && names.includes(one.key));
    return entry && !("spread" in entry) ? entry.value : given(call, ...names);
  };
  const setting = (...names: string[]) => declarations.textOf(exprOf(...names));
  const asks = exprOf("requireApproval", "require_approval");
  const name = setting("serverLabel", "server_label") ?? "mcp";
  const address = setting("serverUrl", "server_url");
  return {
    name: name.slice(0, 200),
    says: `"${name}" is an MCP server${address ? ` (${address.slice(0, 200)})` : ""}; no connection was made. Add it on the Tools page.`,
    isApproved: asks !== null && declarations.textOf(asks) !== "never",
  };
}
