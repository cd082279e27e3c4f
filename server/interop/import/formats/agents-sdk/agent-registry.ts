import { AgentConfig, type LlmConfig } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { freshId, toId } from "@/server/domain/base/ids";
import type { Findings, Raw } from "@/server/domain/base/lenient-reader";
import type { Bound, Evaluator } from "../../code/evaluator";
import { calledName, isCallOf } from "../../code/literals";
import { type Place, sourceOf } from "../../code/program";
import { schemaOf } from "../../code/schemas";
import { RoleRegistry } from "../../role-registry";
import type { DeclaredAgent, DeclaredAgents } from "./agents";
import { asksFirst, toolOf } from "./tools";

/** One agent of the code as it works here. */
export interface Member {
  agent: DeclaredAgent;
  title: string;
  config: AgentConfig;
  llm: LlmConfig | undefined;
  schema: Raw | null;
  handoffs: DeclaredAgent[];
  /** Agents that it asks as its tools. */
  delegates: DeclaredAgent[];
}

const MOST_PROMPT = 60_000;

/** The agents of a program with their roles; agents that nothing uses come along. */
export class AgentRegistry {
  readonly roleRegistry = new RoleRegistry();
  readonly agents: AgentConfig[] = [];
  /** Code of tools and guardrails, by name: text for a note. */
  readonly code = new Map<string, string>();
  readonly models = new Map<string, string[]>();
  private readonly ownCode: Place[] = [];
  private readonly members = new Map<string, Member>();
  private readonly ids = new Set<string>();
  private readonly describedTools = new Set<string>();
  private readonly evaluator: Evaluator;

  constructor(
    private readonly declared: DeclaredAgents,
    private readonly findings: (place: Place) => Findings,
    private readonly keepsModel: boolean,
  ) {
    this.evaluator = declared.evaluator;
  }

  all(): Member[] {
    return this.declared.all().map((agent) => this.member(agent));
  }

  member(agent: DeclaredAgent): Member {
    const known = this.members.get(agent.id);
    if (known) return known;
    const made = this.make(agent);
    this.members.set(agent.id, made);
    return made;
  }

  /** Everybody who may get the work of this agent, itself first. */
  reach(agent: DeclaredAgent, by: "handoffs" | "delegates"): DeclaredAgent[] {
    const found = new Set([agent]);
    for (const one of found) for (const next of this.member(one)[by]) found.add(next);
    return [...found];
  }

  /** Says which models the agents ask for. */
  reportModels(): void {
    for (const [model, roles] of this.models) {
      const [first] = this.members.values();
      if (first)
        this.findings(first.agent.place).changed(
          "",
          `${[...new Set(roles)].slice(0, 5).join(", ")} used the model ${model}; ${this.keepsModel ? "your default provider must offer it" : "steps use your default model"}.`,
        );
    }
  }

  /** Whether a place is within the code of a tool, a guardrail or instructions. */
  isOwnCode({ from, to }: Place): boolean {
    return this.ownCode.some((own) => own.from <= from && to <= own.to);
  }

  private keepCode(name: string, place: Place): void {
    this.code.set(name, sourceOf(this.evaluator.program, place, 1500));
    this.ownCode.push(place);
  }

  /** Settings of an agent that have no counterpart here. */
  private dropUnknownSettings(agent: DeclaredAgent, title: string, report: Findings): void {
    for (const name of ["prompt", "hooks", "toolUseBehavior", "tool_use_behavior"]) {
      const value = this.declared.setting(agent, name);
      if (!value || value.expr.is === "nothing" || this.evaluator.text(value) === "run_llm_again") continue;
      report.dropped(
        "",
        name === "prompt"
          ? `The prompt of ${title} is stored at OpenAI (${this.source(value.expr, 80)}) and wasn't fetched. Write the instructions in its role.`
          : `The setting "${name}" in ${title} has no equivalent and was left out.`,
      );
    }
  }

  private make(agent: DeclaredAgent): Member {
    const { evaluator } = this;
    const setting = (...names: string[]) => this.declared.setting(agent, ...names);
    const textOf = (...names: string[]) => this.textOf(setting(...names));
    const report = this.findings(agent.place);
    const title = textOf("name")?.trim() || agent.name || "Agent";
    const role_name = this.roleRegistry.add({
      name: title,
      description: textOf("handoffDescription", "handoff_description") ?? "",
      prompt: this.promptOf(title, setting("instructions"), report),
    });
    this.dropUnknownSettings(agent, title, report);
    report.keeps("", `Imported the agent "${title}" as the role "${role_name}".`);
    const agent_id = freshId(toId(agent.name ?? title) || "agent", this.ids);
    this.ids.add(agent_id);
    const llm = this.modelOf(agent, role_name);
    const config = AgentConfig.parse({ agent_id, role_name, ...(llm ? { llm_config: llm } : {}) });
    const member: Member = {
      agent,
      title: role_name,
      config,
      llm,
      schema: null,
      handoffs: [],
      delegates: [],
    };
    // Whoever asks for it meanwhile, in a circle of handoffs, finds it.
    this.members.set(agent.id, member);
    const type = setting("outputType", "output_type");
    if (type) {
      const { expr } = type;
      member.schema = schemaOf(expr, evaluator);
      const isPlainText = expr.is === "name" && /^(str|String)$/.test(expr.name);
      if (!member.schema && !isPlainText && evaluator.text(type) !== "text")
        report.dropped(
          "",
          `The output schema of ${title} (${this.source(expr, 80)}) can't be determined, so the agent returns text.`,
        );
    }
    this.equip(member, setting("tools"), report);
    for (const server of this.listOf(setting("mcpServers", "mcp_servers")))
      this.roleRegistry.wants(role_name, [this.serverName(server)], "", report);
    member.handoffs = this.handoffs([...this.listOf(setting("handoffs")), ...agent.later], title, report);
    config.allow_delegation = member.delegates.length > 0;
    for (const kind of ["input", "output"] as const)
      this.dropGuardrails(
        this.listOf(setting(`${kind}Guardrails`, `${kind}_guardrails`)),
        kind,
        title,
        report,
      );
    this.agents.push(config);
    return member;
  }

  private source(place: Place, most: number): string {
    return sourceOf(this.evaluator.program, place, most).replace(/\s+/g, " ");
  }

  private modelOf(agent: DeclaredAgent, role: string): LlmConfig | undefined {
    const asked = this.declared.setting(agent, "model");
    const model = this.textOf(asked);
    if (asked && !model && asked.expr.is !== "nothing")
      this.findings(agent.place).changed(
        "",
        `The model of ${role} is set in code (${this.source(asked.expr, 100)}); its steps use your default model.`,
      );
    if (model) this.models.set(model, [...(this.models.get(model) ?? []), role]);
    const settings = this.declared.setting(agent, "modelSettings", "model_settings");
    const number = (...names: string[]): number | null => {
      const value = this.entryOf(settings, ...names);
      const json = value && this.evaluator.json(value);
      return typeof json === "number" ? json : null;
    };
    const effort = this.textOf(this.entryOf(this.entryOf(settings, "reasoning"), "effort"));
    const temperature = number("temperature");
    const top_p = number("topP", "top_p");
    const max_tokens = number("maxTokens", "max_tokens");
    const llm: LlmConfig = {
      ...defined({
        model: this.keepsModel && model ? model.slice(0, 200) : undefined,
        temperature: temperature !== null && temperature >= 0 && temperature <= 2 ? temperature : undefined,
      }),
      ...(top_p === null ? {} : { top_p }),
      ...defined({
        max_tokens:
          max_tokens !== null && Number.isInteger(max_tokens) && max_tokens > 0 ? max_tokens : undefined,
        reasoning_effort: this.keepsModel && isEffort(effort) ? effort : undefined,
      }),
    };
    return Object.keys(llm).length > 0 ? llm : undefined;
  }

  /** The instructions as a text; empty where they are a function, which reads values of the run. */
  private promptOf(title: string, given: Bound | null, report: Findings): string {
    const { evaluator } = this;
    const wrapped = given?.expr;
    const isWrapped = isCallOf(wrapped, "prompt_with_handoff_instructions", "promptWithHandoffInstructions");
    const instructions = given && isWrapped ? evaluator.positional({ ...given, expr: wrapped }) : given;
    if (!instructions || instructions.expr.is === "nothing") return "";
    const { expr } = evaluator.resolve(instructions);
    const routine = expr.is === "function" ? expr : evaluator.functionOf(instructions);
    if (routine) {
      report.dropped(
        "",
        `The instructions of ${title} are built in code, so they were left out. Write them in its role.`,
      );
      this.keepCode(`Instructions for ${title}`, routine);
      return "";
    }
    const pieces = evaluator.pieces(instructions);
    if (!pieces) {
      report.dropped(
        "",
        `The instructions of ${title} are computed (${this.source(expr, 200)}), so they were left out. Write them in its role.`,
      );
      return "";
    }
    const prompt = pieces.map((piece) => {
      if (typeof piece === "string") return piece;
      const shown = this.source(piece.expr, 100);
      // The SDK's own words on handoffs; crews here have theirs.
      if (/RECOMMENDED_PROMPT_PREFIX$/.test(shown)) return "";
      report.changed(
        "",
        `The instructions of ${title} insert a value (${shown}), which roles don't support; the value's name is kept as text.`,
      );
      return `{${shown}}`;
    });
    const text = prompt.join("").trim();
    if (text.length <= MOST_PROMPT) return text;
    report.changed("", `The instructions of ${title} exceed the limit for a role, so the end was left out.`);
    return text.slice(0, MOST_PROMPT);
  }

  /** Lets an agent's role want its tools; agents among them are those that it asks. */
  private equip(member: Member, given: Bound | null, report: Findings): void {
    for (const item of this.listOf(given)) {
      const asked = this.askedAgent(item);
      const tool = asked ? null : toolOf(item, this.evaluator);
      if (asked && !member.delegates.includes(asked)) member.delegates.push(asked);
      if (asked && asksFirst(this.evaluator.resolve(item), this.evaluator))
        report.dropped(
          "",
          `A person must approve before ${member.title} calls ${this.member(asked).title}; this approval wasn't imported. Add an approval node before this step if you need it.`,
        );
      if (!asked && !tool)
        report.dropped(
          "",
          `A tool used by ${member.title} (${this.source(item.expr, 80)}) can't be determined from the code and was left out.`,
        );
      if (!tool) continue;
      if (tool.description && !this.describedTools.has(tool.name)) report.info("", tool.description);
      this.describedTools.add(tool.name);
      const ours = this.roleRegistry.wants(member.title, [tool.name], "", report);
      if (tool.isApproved) {
        this.roleRegistry.asksBefore(member.title, [tool.name, ...ours]);
        report.changed(
          "",
          `Every call to "${tool.name}" must be approved. The role "${member.title}" asks before calling a tool with that name; if you name the tool differently, update the role.`,
        );
      }
      if (tool.code) this.keepCode(tool.name, tool.code);
    }
  }

  /** The agent that `x.as_tool(...)` lets another ask. */
  private askedAgent(item: Bound): DeclaredAgent | null {
    const { expr, scope } = this.evaluator.resolve(item);
    if (!isCallOf(expr, "as_tool", "asTool") || expr.callee.is !== "member") return null;
    return this.declared.agentOf({ expr: expr.callee.of, scope });
  }

  private handoffs(list: readonly Bound[], title: string, report: Findings): DeclaredAgent[] {
    const found: DeclaredAgent[] = [];
    for (const item of list) {
      const { expr, scope } = this.evaluator.resolve(item);
      const to = isCallOf(expr, "handoff")
        ? (this.evaluator.positional({ expr, scope }) ?? this.evaluator.argument({ expr, scope }, "agent"))
        : item;
      const agent = this.declared.agentOf(to);
      if (!agent)
        report.dropped(
          "",
          `${title} hands off to ${this.source(item.expr, 80)}, which can't be determined from the code.`,
        );
      else if (!found.includes(agent)) found.push(agent);
    }
    return found;
  }

  private dropGuardrails(
    list: readonly Bound[],
    kind: "input" | "output",
    title: string,
    report: Findings,
  ): void {
    for (const item of list) {
      const { expr } = this.evaluator.resolve(item);
      const routine = this.evaluator.functionOf(item);
      const name =
        routine?.name ??
        this.textOf(this.entryOf(item, "name")) ??
        calledName(expr) ??
        this.source(item.expr, 60);
      report.dropped(
        "",
        `The ${kind} guardrail "${name}" of ${title} is code and was left out. Write its rule as a guardrail in the role.`,
      );
      this.keepCode(name, routine ?? expr);
    }
  }

  private serverName(server: Bound): string {
    const named = this.textOf(this.entryOf(server, "name", "serverLabel", "server_label"));
    return (named ?? (server.expr.is === "name" ? server.expr.name : "an MCP server")).slice(0, 200);
  }

  private textOf(bound: Bound | null): string | null {
    return bound && this.evaluator.text(bound);
  }

  /** The items of a list, or a single value in place of a list. */
  private listOf(bound: Bound | null): Bound[] {
    if (!bound || bound.expr.is === "nothing") return [];
    return this.evaluator.items(bound) ?? [bound];
  }

  /** An entry of a record, or an argument of the call that makes an object: `{ effort: "low" }`, `Reasoning(effort="low")`. */
  private entryOf(bound: Bound | null, ...names: string[]): Bound | null {
    if (!bound) return null;
    const { expr, scope } = this.evaluator.resolve(bound);
    return expr.is === "call"
      ? this.evaluator.argument({ expr, scope }, ...names)
      : this.evaluator.entry({ expr, scope }, ...names);
  }
}

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
const isEffort = (text: string | null): text is (typeof EFFORTS)[number] =>
  EFFORTS.some((one) => one === text);
