import { AgentConfig } from "@/server/domain/agent/role";
import { listOf } from "@/server/domain/base/guards";
import { freshId, toId } from "@/server/domain/base/ids";
import { type Findings, isRaw, type Raw } from "@/server/domain/base/lenient-reader";
import { plainAddress, withoutKeys } from "@/server/interop/tool-declarations";
import { RoleRegistry } from "../../role-registry";
import { textOf } from "../../values";
import { type Component, componentOf } from "./model";

/** A participant of a team as it works here. */
export interface Participant {
  /** As the file calls it. */
  name: string;
  role: string;
  config: AgentConfig;
  handoffs: string[];
}

/** What agents of a kind could do by themselves, by the tools that do the like. */
const OWN_TOOLS: Readonly<Record<string, string[]>> = {
  MultimodalWebSurfer: ["web_search", "browse_url"],
  FileSurfer: ["file_read"],
  CodeExecutorAgent: ["code_executor"],
};

/** The agents of a file, each with its role; people among them are not agents. */
export class ParticipantRegistry {
  readonly roleRegistry = new RoleRegistry();
  readonly agents: AgentConfig[] = [];
  /** Code of tools, by their names: text for a note. */
  readonly code = new Map<string, string>();
  private readonly ids = new Set<string>();

  /** Null where it is a person, or cannot be read. */
  add(source: unknown, report: Findings, depth = 0): Participant[] {
    const agent = componentOf(source, report);
    if (!agent) {
      report.dropped("", "Skipped: not an agent.");
      return [];
    }
    const { kind, config } = agent;
    if (kind === "MessageFilterAgent" && depth < 4) {
      report.changed(
        "",
        "This agent reads a filtered conversation; here it reads the other agents' latest messages.",
      );
      return this.add(config.wrapped_agent ?? config.agent, report, depth + 1);
    }
    if (kind === "UserProxyAgent") {
      report.changed(
        "",
        `"${textOf(config.name) || "user_proxy"}" is a person. People aren't simulated here: they start runs and answer questions from agents or the manager.`,
      );
      return [];
    }
    if (kind === "SocietyOfMindAgent") {
      report.changed(
        "",
        `"${textOf(config.name)}" is a team that acts as one agent; imported as a single agent with the same instruction, without its members.`,
      );
      return [this.make(agent, textOf(config.instruction))];
    }
    if (OWN_TOOLS[kind])
      report.changed(
        "",
        `"${textOf(config.name)}" is a ${kind}; imported as a regular agent that uses tools instead.`,
      );
    else if (kind !== "AssistantAgent")
      report.changed("", `"${textOf(config.name)}" is a ${kind}; only its description was imported.`);
    return [this.make(agent, textOf(config.system_message) || textOf(config.instructions))];
  }

  private make({ kind, label, config, report }: Component, prompt: string): Participant {
    const name = textOf(config.name) || label || kind;
    const role = this.roleRegistry.add({ name, description: textOf(config.description), prompt });
    report.keeps("", `Imported the agent "${name}" as the role "${role}".`);
    const agent_id = freshId(toId(name) || "agent", this.ids);
    this.ids.add(agent_id);
    const model =
      isRaw(config.model_client) && isRaw(config.model_client.config)
        ? textOf(config.model_client.config.model)
        : "";
    if (model)
      report.changed(
        "config.model_client",
        `"${name}" used the model ${model}; steps use your default model. Choose another in the step.`,
      );
    const tools = [...(OWN_TOOLS[kind] ?? []), ...this.toolsOf(config, report)];
    this.roleRegistry.wants(role, tools, "config.tools", report);
    for (const [field, what] of [
      ["memory", "memory"],
      ["output_content_type", "output schema"],
    ] as const)
      if (
        config[field] !== undefined &&
        config[field] !== null &&
        listOf(config[field]).length + (Array.isArray(config[field]) ? 0 : 1) > 0
      )
        report.dropped(`config.${field}`, `The ${what} of "${name}" was left out.`);
    const handoffs = listOf(config.handoffs).flatMap((handoff) =>
      typeof handoff === "string"
        ? [handoff]
        : isRaw(handoff)
          ? textOf(handoff.target)
            ? [textOf(handoff.target)]
            : []
          : [],
    );
    const participant = { name, role, config: AgentConfig.parse({ agent_id, role_name: role }), handoffs };
    this.agents.push(participant.config);
    return participant;
  }

  /** Tools that stand with the agent (version 1), or in its workbench (version 2). */
  private toolsOf(config: Raw, report: Findings): string[] {
    const benches = [config.workbench].flat().filter(isRaw);
    const inBenches = benches.flatMap((bench) => {
      const settings = isRaw(bench.config) ? bench.config : {};
      if (!/Mcp/.test(textOf(bench.provider))) return listOf(settings.tools);
      const server = isRaw(settings.server_params) ? settings.server_params : {};
      const url = textOf(server.url);
      const command = [...textOf(server.command).trim().split(/ +/), ...listOf(server.args).map(textOf)];
      const address = url ? plainAddress(url) : withoutKeys(command).join(" ").trim();
      report.info(
        "config.workbench",
        `A workbench is an MCP server (${address.slice(0, 200) || "without a URL"}); no connection was made. Add it on the Tools page.`,
      );
      return ["MCP server"];
    });
    return [...listOf(config.tools), ...inBenches].flatMap((tool) => {
      if (typeof tool === "string") return [tool];
      if (!isRaw(tool)) return [];
      const settings = isRaw(tool.config) ? tool.config : tool;
      const name =
        textOf(settings.name) || textOf(tool.label) || (textOf(tool.provider).split(".").at(-1) ?? "");
      const source = textOf(settings.source_code);
      if (source) this.code.set(name, source.slice(0, 3000));
      return name ? [name] : [];
    });
  }
}
