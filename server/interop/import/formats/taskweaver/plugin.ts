import { isText } from "@/server/domain/base/guards";
import { isRaw, type Raw } from "@/server/domain/base/lenient-reader";
import { declaredName, programEntry } from "../../../tool-declarations";
import type { Claim, ReadableFormat } from "../../format";
import { rawsOf, textOf } from "../../values";
import { asToolUser } from "../tools-yaml";

const isPlugin = (value: unknown): value is Raw & { name: string } =>
  isRaw(value) &&
  isText(value.name) &&
  isText(value.description) &&
  Array.isArray(value.parameters) &&
  Array.isArray(value.returns);

/** Plugins of TaskWeaver, each a tool to declare. Their programs are not imported. All of an import come in together. */
export const taskWeaverPlugins: ReadableFormat = {
  id: "taskweaver-plugins",
  label: "TaskWeaver plugins",
  recognise(sources): Claim[] {
    const files = sources.filter(({ value }) => isPlugin(value));
    return files.length > 0 ? [{ sure: 2, files }] : [];
  },
  read({ claim, findings }) {
    const names = claim.files.flatMap((source) => {
      if (!isPlugin(source.value)) return [];
      const { name, enabled, configurations, returns } = source.value;
      const report = source.on(findings);
      const plain = declaredName(name);
      const description = [
        textOf(source.value.description).trim(),
        ...rawsOf(returns).map(
          (one) => `Returns ${textOf(one.name)} (${textOf(one.type)}): ${textOf(one.description).trim()}`,
        ),
        ...(isText(source.value.examples) ? [`Example: ${source.value.examples.trim()}`] : []),
      ].join("\n");
      const program = { ...source.value, path: `./plugins/${plain}.py`, function: plain, description };
      const entry = programEntry(name, program);
      const message = `The plugin "${name}" is a Python class, and files can't add programs. To use it as a tool, the admin writes a function that calls it, and declares that under "tools" in the file that TROUPE_TOOLS_FILE names. Programs of a python_session can then call it.`;
      if (entry === null) report.dropped("name", message);
      else report.suggests("name", message, entry);
      if (isRaw(configurations))
        report.dropped(
          "configurations",
          `The settings of "${name}" were left out: ${Object.keys(configurations).join(", ")}. The function reads them from its environment ("env" in the entry).`,
        );
      if (enabled === false) report.info("enabled", `"${name}" is disabled in TaskWeaver.`);
      return [plain];
    });
    return asToolUser(names, findings);
  },
};
