import { RoleDefinition } from "@/server/domain/agent/role";
import { defined } from "@/server/domain/base/defined";
import { freshId } from "@/server/domain/base/ids";
import type { Findings } from "@/server/domain/base/lenient-reader";
import { asTemplate } from "@/server/domain/text/template/template";
import { BUILTIN_TOOLS, ownToolFor } from "../tool-names";
import { type Imported, nothingImported, type WantedTool } from "./format";

const LONGEST = { name: 80, description: 4000, goal: 2000, prompt: 65_536 };

/** The roles of an import, each with a unique name, and the tools that they want. */
export class RoleRegistry {
  readonly roles: RoleDefinition[] = [];
  private readonly byName = new Map<string, RoleDefinition>();
  /** Names by definition: roles with identical definitions are one. */
  private readonly given = new Map<string, string>();
  private readonly wanted = new Map<string, WantedTool>();

  /**
   * `prompt`: replaces the standard prompt; a text, not a template. `more`: further settings as they are. Answers the
   * role's name here.
   */
  add(role: {
    name: string;
    description?: string;
    goals?: readonly string[];
    prompt?: string;
    more?: Pick<RoleDefinition, "rule" | "input_schema" | "output_schema">;
  }): string {
    const known = this.given.get(JSON.stringify(role));
    if (known !== undefined) return known;
    const plain = role.name.replace(/\s+/g, " ").trim().slice(0, LONGEST.name).trim() || "Agent";
    const name = this.byName.has(plain) ? numbered(plain, this.byName) : plain;
    const description = role.description?.trim() ?? "";
    const goals = (role.goals ?? []).map((goal) => goal.trim()).filter(Boolean);
    const isLong =
      description.length > LONGEST.description || goals.some((goal) => goal.length > LONGEST.goal);
    const prompt =
      role.prompt?.trim() ||
      (isLong
        ? [
            `You are ${name}. ${description}`,
            ...(goals.length > 0 ? ["Goals:", ...goals.map((goal) => `- ${goal}`)] : []),
          ].join("\n\n")
        : "");
    const made = RoleDefinition.parse({
      ...role.more,
      name,
      description: description.slice(0, LONGEST.description),
      goals: goals.map((goal) => goal.slice(0, LONGEST.goal)),
      ...defined({
        system_prompt_template: prompt ? asTemplate(prompt).slice(0, LONGEST.prompt) : undefined,
      }),
    });
    this.roles.push(made);
    this.byName.set(name, made);
    this.given.set(JSON.stringify(role), name);
    return name;
  }

  /** Registers the tools that a role wants; returns those with a counterpart here, which the role then names. */
  wants(role: string, tools: readonly string[], at: string, findings: Findings): string[] {
    return tools.flatMap((foreign) => {
      const ours = BUILTIN_TOOLS.has(foreign) ? foreign : ownToolFor(foreign);
      const known = this.wanted.get(foreign) ?? { name: foreign, ...(ours ? { ours } : {}), by: [] };
      this.wanted.set(foreign, known);
      if (!known.by.includes(role)) known.by.push(role);
      if (!ours) {
        findings.dropped(
          at,
          `There is no tool "${foreign}" here. Add one on the Tools page and select it for the role "${role}".`,
        );
        return [];
      }
      if (ours !== foreign) findings.changed(at, `"${foreign}" is named "${ours}" here.`);
      const own = this.byName.get(role);
      if (own && !own.tools.includes(ours)) own.tools.push(ours);
      return [ours];
    });
  }

  /** Lets a role ask a person before each call of a tool. */
  asksBefore(role: string, tools: readonly string[]): void {
    const own = this.byName.get(role);
    if (!own) return;
    const before = own.confirmation?.kind === "tools" ? own.confirmation.tools : [];
    own.confirmation = { kind: "tools", tools: [...new Set([...before, ...tools])] };
  }

  /** The roles as an import, with the tools that they want. */
  imported(name: string): Imported {
    return { ...nothingImported(name), roles: this.roles, tools: [...this.wanted.values()] };
  }
}

const numbered = (name: string, taken: ReadonlyMap<string, unknown>): string =>
  freshId(name.slice(0, LONGEST.name - 6), taken).replace(/_(\d+)$/, " $1");
