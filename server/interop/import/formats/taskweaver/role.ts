import { isRaw, type Raw } from "@/server/domain/base/lenient-reader";
import type { Claim, ReadableFormat } from "../../format";
import { RoleRegistry } from "../../role-registry";
import { textOf } from "../../values";

const isRole = (value: unknown): value is Raw & { alias: string; module: string } =>
  isRaw(value) && textOf(value.alias) !== "" && textOf(value.module) !== "";

/** What the programs of TaskWeaver's own roles do, by tools that do the like. */
const TOOLS: Readonly<Record<string, readonly string[]>> = {
  "taskweaver.code_interpreter": ["run_javascript"],
  "taskweaver.ext_role.web_search": ["web_search"],
  "taskweaver.ext_role.web_explorer": ["browse_url"],
};

const ECHO = "taskweaver.ext_role.echo";

/** Whether a module is this package or lies in it. */
const isIn = (module: string, name: string): boolean => module === name || module.startsWith(`${name}.`);

/** Roles of TaskWeaver (`*.role.yaml`): an introduction, and a program that is not imported. All of an import come in together. */
export const taskWeaverRoles: ReadableFormat = {
  id: "taskweaver-roles",
  label: "TaskWeaver roles",
  recognise(sources): Claim[] {
    const files = sources.filter(({ value }) => isRole(value));
    return files.length > 0 ? [{ sure: 2, files }] : [];
  },
  read({ claim, findings }) {
    const registry = new RoleRegistry();
    for (const source of claim.files) {
      if (!isRole(source.value)) continue;
      const { alias, module, intro, ...rest } = source.value;
      const report = source.on(findings);
      const isEcho = isIn(module, ECHO);
      const lines = textOf(intro).split("\n");
      const isFilled = (line: string) => /^\s*\{\w+\}\s*$/.test(line);
      const name = registry.add({
        name: alias,
        description: lines.filter((line) => !isFilled(line)).join("\n"),
        ...(isEcho ? { more: { rule: { kind: "echo" } } } : {}),
      });
      report.keeps("alias", `Imported the role "${name}" with its introduction.`);
      for (const line of lines.filter(isFilled))
        report.dropped("intro", `A program filled in ${line.trim()}; it was left out.`);
      if (isEcho) report.keeps("module", `"${name}" answers by the rule Echo, without a model.`);
      else {
        report.changed(
          "module",
          `The program ${module} was left out: a model answers as "${name}", by its introduction.`,
        );
        const [, tools = []] = Object.entries(TOOLS).find(([known]) => isIn(module, known)) ?? [];
        registry.wants(name, tools, "module", report);
      }
      for (const key of Object.keys(rest))
        report.dropped(key, `"${key}" has no equivalent and was left out.`);
    }
    return registry.imported("Roles");
  },
};
