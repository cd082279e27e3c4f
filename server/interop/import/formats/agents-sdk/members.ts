import { AgentConfig, type LlmConfig } from "@/server/domain/agent/role";
import { freshId, toId } from "@/server/domain/base/ids";
import type { Findings, Raw } from "@/server/domain/base/lenient-reader";
import { calledName, given, isCallOf, positional, textOf, textParts } from "../../code/literals";
import { type Expr, type Place, sourceOf } from "../../code/program";
import { itemsOf } from "../../code/walk";
import { Cast } from "../../roles";
import type { Declarations, DeclaredAgent } from "./declarations";
import { schemaOf } from "./schemas";
import { asksFirst, toolOf } from "./tools";

/** One agent of the code as it works here. */
export interface Member {
  agent: DeclaredAgent;
  title: string;
  config: AgentConfig;
  llm: LlmConfig | undefined;
  schema: Raw | null;
  hands: DeclaredAgent[];
  delegates: DeclaredAgent[];
}

const MOST_PROMPT = 60_000;

/** The agents of a program, each with its role; agents that nothing uses come along. */
export class Members {
  readonly cast = new Cast();
  readonly agents: AgentConfig[] = [];
  /** Code of tools and checks, by what it is: text for a note. */
  readonly code = new Map<string, string>();
  readonly models = new Map<string, string[]>();
  private readonly ownCode: Place[] = [];
  private readonly members = new Map<string, Member>();
  private readonly ids = new Set<string>();
  private readonly said = new Set<string>();

  constructor(
    private readonly declarations: Declarations,
    private readonly findings: (place: Place) => Findings,
    private readonly keepsModel: boolean,
  ) {}

  member(agent: DeclaredAgent): Member {
    const known = this.members.get(agent.id);
    if (known) return known;
    const made = this.make(agent);
    this.members.set(agent.id, made);
    return made;
  }

  /** Everybody who may get the work of this agent, itself first. */
  reach(agent: DeclaredAgent, by: "hands" | "delegates"): DeclaredAgent[] {
    const found = [agent];
    for (const one of found)
      for (const next of this.member(one)[by]) if (!found.includes(next)) found.push(next);
    return found;
  }

  /** Says which models the agents ask for. */
  sayAll(): void {
    for (const [model, roles] of this.models) {
      const [first] = this.members.values();
      if (first)
        this.findings(first.agent.call).changed(
          "",
          `${[...new Set(roles)].slice(0, 5).join(", ")} asked for the model ${model}; ${this.keepsModel ? "it is asked of your default provider" : "steps use your own model"}.`,
        );
    }
  }

  /** Whether a place stands in the code of a tool, a guardrail or instructions. */
  isOwnCode({ from, to }: Place): boolean {
    return this.ownCode.some((own) => own.from <= from && to <= own.to);
  }

  private keepCode(name: string, place: Place): void {
    this.code.set(name, sourceOf(this.declarations.program, place, 1500));
    this.ownCode.push(place);
  }

  /** Settings of an agent that have no counterpart here. */
  private sayUnknown(agent: DeclaredAgent, title: string, here: Findings): void {
    for (const name of ["prompt", "hooks", "toolUseBehavior", "tool_use_behavior"]) {
      const value = this.declarations.settingOf(agent, name);
      if (!value || value.is === "nothing" || textOf(value) === "run_llm_again") continue;
      here.dropped(
        "",
        name === "prompt"
          ? `The prompt of ${title} is kept at OpenAI (${this.source(value, 80)}) and is not fetched. Write its instructions in its role.`
          : `"${name}" of ${title} has no counterpart here and was left out.`,
      );
    }
  }

  private make(agent: DeclaredAgent): Member {
    const { declarations } = this;
    const setting = (...names: string[]) => declarations.settingOf(agent, ...names);
    const here = this.findings(agent.call);
    const title = declarations.textOf(setting("name"))?.trim() || agent.id;
    const role_name = this.cast.add({
      name: title,
      description: declarations.textOf(setting("handoffDescription", "handoff_description")) ?? "",
      prompt: this.promptOf(title, setting("instructions"), here),
    });
    this.sayUnknown(agent, title, here);
    here.keeps("", `The agent "${title}" became the role "${role_name}".`);
    const agent_id = freshId(toId(agent.id.startsWith("agent ") ? title : agent.id) || "agent", this.ids);
    this.ids.add(agent_id);
    const llm = this.modelOf(agent, role_name);
    const config = AgentConfig.parse({ agent_id, role_name, ...(llm ? { llm_config: llm } : {}) });
    const member: Member = {
      agent,
      title: role_name,
      config,
      llm,
      schema: null,
      hands: [],
      delegates: [],
    };
    // Whoever asks for it meanwhile, in a circle of handoffs, finds it.
    this.members.set(agent.id, member);
    const type = setting("outputType", "output_type");
    if (type) {
      member.schema = schemaOf(type, declarations);
      if (
        !member.schema &&
        !(type.is === "name" && /^(str|String)$/.test(type.name)) &&
        textOf(type) !== "text"
      )
        here.dropped(
          "",
          `The shape of what ${title} answers (${this.source(type, 80)}) cannot be told; it answers in words.`,
        );
    }
    this.equip(member, setting("tools"), here);
    for (const server of listOf(setting("mcpServers", "mcp_servers"), declarations))
      this.cast.wants(role_name, [serverName(server, declarations)], "", here);
    member.hands = this.handoffs([...listOf(setting("handoffs"), declarations), ...agent.later], title, here);
    config.allow_delegation = member.delegates.length > 0;
    for (const kind of ["input", "output"] as const)
      this.sayGuardrails(
        listOf(setting(`${kind}Guardrails`, `${kind}_guardrails`), declarations),
        kind,
        title,
        here,
      );
    this.agents.push(config);
    return member;
  }

  private source(place: Place, most: number): string {
    return sourceOf(this.declarations.program, place, most).replace(/\s+/g, " ");
  }

  private modelOf(agent: DeclaredAgent, role: string): LlmConfig | undefined {
    const { declarations } = this;
    const asked = declarations.settingOf(agent, "model");
    const model = declarations.textOf(asked);
    if (asked && !model && asked.is !== "nothing")
      this.findings(agent.call).changed(
        "",
        `The model of ${role} is made by code (${this.source(asked, 100)}); its steps use your own model.`,
      );
    if (model) this.models.set(model, [...(this.models.get(model) ?? []), role]);
    const settings = declarations.resolved(declarations.settingOf(agent, "modelSettings", "model_settings"));
    const number = (...names: string[]): number | null => {
      const value = settings && declarations.jsonOf(settingIn(settings, names));
      return typeof value === "number" ? value : null;
    };
    const reasoning = settings ? settingIn(settings, ["reasoning"]) : null;
    const effort = reasoning ? declarations.textOf(settingIn(reasoning, ["effort"])) : null;
    const temperature = number("temperature");
    const top_p = number("topP", "top_p");
    const max_tokens = number("maxTokens", "max_tokens");
    const llm: LlmConfig = {
      ...(this.keepsModel && model ? { model: model.slice(0, 200) } : {}),
      ...(temperature !== null && temperature >= 0 && temperature <= 2 ? { temperature } : {}),
      ...(top_p === null ? {} : { top_p }),
      ...(max_tokens !== null && Number.isInteger(max_tokens) && max_tokens > 0 ? { max_tokens } : {}),
      ...(this.keepsModel && isEffort(effort) ? { reasoning_effort: effort } : {}),
    };
    return Object.keys(llm).length > 0 ? llm : undefined;
  }

  /** The instructions as a text; empty where they are a function, which reads values of the run. */
  private promptOf(title: string, given: Expr | null, here: Findings): string {
    const { declarations } = this;
    const unwrapped = isCallOf(given, "prompt_with_handoff_instructions", "promptWithHandoffInstructions")
      ? positional(given, 0)
      : given;
    const expr = declarations.resolved(unwrapped);
    if (!expr || expr.is === "nothing") return "";
    const routine =
      expr.is === "function" ? expr : expr.is === "name" ? declarations.routines.get(expr.name) : undefined;
    if (routine) {
      here.dropped(
        "",
        `The instructions of ${title} are written by code and were left out. Write them in its role.`,
      );
      this.keepCode(`instructions of ${title}`, routine);
      return "";
    }
    const parts = textParts(expr);
    if (!parts) {
      here.dropped(
        "",
        `The instructions of ${title} are computed (${this.source(expr, 200)}) and were left out. Write them in its role.`,
      );
      return "";
    }
    const prompt = parts.map((part) => {
      if (typeof part === "string") return part;
      const text = declarations.textOf(part);
      if (text !== null) return text;
      const shown = this.source(part, 100);
      // The SDK's own words on handoffs; crews here have theirs.
      if (/RECOMMENDED_PROMPT_PREFIX$/.test(shown)) return "";
      here.changed(
        "",
        `The instructions of ${title} put in a value (${shown}) that a role does not know; its name stands there now.`,
      );
      return `{${shown}}`;
    });
    const text = prompt.join("").trim();
    if (text.length <= MOST_PROMPT) return text;
    here.changed("", `The instructions of ${title} were longer than a role's may be; the end was left out.`);
    return text.slice(0, MOST_PROMPT);
  }

  /** Lets an agent's role want its tools; agents among them are those that it asks. */
  private equip(member: Member, given: Expr | null, here: Findings): void {
    for (const item of listOf(given, this.declarations)) {
      const asked = this.askedAgent(item);
      const tool = asked ? null : toolOf(item, this.declarations);
      if (asked && !member.delegates.includes(asked)) member.delegates.push(asked);
      if (asked && asksFirst(this.declarations.resolved(item)))
        here.dropped(
          "",
          `A person approves before ${member.title} asks ${this.member(asked).title}; this approval is not imported. Add an approval gate before this step if you need it.`,
        );
      if (!asked && !tool)
        here.dropped(
          "",
          `A tool of ${member.title} (${this.source(item, 80)}) cannot be told from the code and was left out.`,
        );
      if (!tool) continue;
      if (tool.says && !this.said.has(tool.name)) here.info("", tool.says);
      this.said.add(tool.name);
      const ours = this.cast.wants(member.title, [tool.name], "", here);
      if (tool.isApproved) {
        this.cast.asksBefore(member.title, [tool.name, ...ours]);
        here.changed(
          "",
          `People approve each call of "${tool.name}". The role "${member.title}" asks them before each call of a tool of that name; where you give the tool another name, change it at the role.`,
        );
      }
      if (tool.code) this.keepCode(tool.name, tool.code);
    }
  }

  /** The agent that `x.as_tool(...)` lets another ask. */
  private askedAgent(expr: Expr): DeclaredAgent | null {
    const tool = this.declarations.resolved(expr);
    if (!isCallOf(tool, "as_tool", "asTool") || tool.callee.is !== "member") return null;
    return this.declarations.agentOf(tool.callee.of);
  }

  private handoffs(list: readonly Expr[], title: string, here: Findings): DeclaredAgent[] {
    const found: DeclaredAgent[] = [];
    for (const item of list) {
      const expr =
        item.is === "name" && this.declarations.agentOf(item) ? item : this.declarations.resolved(item);
      const to = isCallOf(expr, "handoff") ? (positional(expr, 0) ?? given(expr, "agent")) : expr;
      const agent = this.declarations.agentOf(to);
      if (!agent)
        here.dropped(
          "",
          `${title} hands over to ${this.source(item, 80)}, which cannot be told from the code.`,
        );
      else if (!found.includes(agent)) found.push(agent);
    }
    return found;
  }

  private sayGuardrails(
    list: readonly Expr[],
    kind: "input" | "output",
    title: string,
    here: Findings,
  ): void {
    for (const item of list) {
      const guardrail = this.declarations.resolved(item) ?? item;
      const named =
        guardrail.is === "name"
          ? guardrail.name
          : guardrail.is === "record"
            ? textIn(guardrail, "name")
            : null;
      const name = named ?? calledName(guardrail) ?? this.source(item, 60);
      here.dropped(
        "",
        `The check "${name}" of what ${title} ${kind === "input" ? "is given" : "answers"} is code and was left out. Write its rule as a guardrail of the role.`,
      );
      const routine = this.declarations.routines.get(name);
      this.keepCode(name, routine ?? guardrail);
    }
  }
}

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
const isEffort = (text: string | null): text is (typeof EFFORTS)[number] =>
  EFFORTS.some((one) => one === text);

/** A setting of `ModelSettings(...)` or of an object. */
function settingIn(settings: Expr, names: readonly string[]): Expr | null {
  if (settings.is === "call") return given(settings, ...names);
  if (settings.is !== "record") return null;
  for (const entry of settings.entries)
    if (!("spread" in entry) && names.includes(entry.key)) return entry.value;
  return null;
}

const textIn = (record: Expr, name: string): string | null => textOf(settingIn(record, [name]));

/** The items of a list that may stand under a name. */
function listOf(expr: Expr | null, declarations: Declarations): Expr[] {
  const list = expr?.is === "name" ? declarations.resolved(expr) : expr;
  return list && list.is !== "nothing" ? itemsOf(list) : [];
}

function serverName(expr: Expr, declarations: Declarations): string {
  const server = declarations.resolved(expr);
  const said =
    server?.is === "call" ? declarations.textOf(given(server, "name", "serverLabel", "server_label")) : null;
  return (said ?? (expr.is === "name" ? expr.name : "an MCP server")).slice(0, 200);
}
