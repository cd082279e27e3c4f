import { defined } from "@/server/domain/base/defined";
import { type Findings, isRaw } from "@/server/domain/base/lenient-reader";
import { Drawing, type DrawnInput } from "../../drawing";
import { claimEach, type Imported, nothingImported, type ReadableFormat } from "../../format";
import { RoleRegistry } from "../../role-registry";
import { type Source, titleOf } from "../../source";
import { callsOf, isBarePrompt, isNew, isOld, kindOf, type PromptCall } from "./model";
import { toTemplate } from "./template";

/** Prompts and chains of LangChain, as it kept them before (`_type`) and as it keeps them now (`lc`). */
export const langchain: ReadableFormat = {
  id: "langchain",
  label: "a LangChain prompt or chain",
  recognise: claimEach(({ value }) => {
    if (isNew(value)) return 3;
    const isKnown =
      isOld(value) &&
      ("template" in value ||
        "prompt" in value ||
        "llm_chain" in value ||
        "input_variables" in value ||
        /chain|agent|prompt|few_shot|react|llm|openai|chat/.test(kindOf(value)));
    return isKnown || isBarePrompt(value) ? 2 : null;
  }),
  read({ claim, findings, work }) {
    const [source] = claim.files;
    if (!source) return nothingImported();
    const report = source.on(findings);
    const calls = callsOf(source.value, "", report, work);
    const name = titleOf(source) || "Imported prompt";
    if (calls.length === 0) {
      report.error(
        "",
        `This is LangChain's "${kindOf(source.value) || "object"}", which has no prompt; there is nothing to import.`,
      );
      return nothingImported(name);
    }
    return drawCalls(calls, name, source, findings);
  },
};

function drawCalls(calls: readonly PromptCall[], name: string, source: Source, findings: Findings): Imported {
  const report = source.on(findings);
  const drawing = new Drawing(name, findings);
  const roleRegistry = new RoleRegistry();
  const given = new Map<string, string>();
  const inputs: DrawnInput[] = [];
  const steps: string[] = [];
  let last = "";
  for (const [nth, call] of calls.entries()) {
    const known = new Map(Object.entries(call.known));
    const keyFor = (variable: string): string => {
      if (call.takesAnswer && !known.has(variable)) return last;
      const made = given.get(variable);
      if (made !== undefined) return made;
      const key = drawing.keyFor(variable);
      // In a simple chain each step has one variable: what the step before it gave.
      if (nth > 0 && calls[nth - 1]?.output === null && !known.has(variable)) return last;
      given.set(variable, key);
      const value = known.get(variable);
      inputs.push({
        key,
        ...(typeof value === "string" || typeof value === "number" || typeof value === "boolean"
          ? { default: `${value}` }
          : {}),
      });
      return key;
    };
    const title = calls.length === 1 ? name : `Step ${nth + 1}`;
    const texts = call.messages.map(({ who, text, format, at }) => ({
      who,
      text,
      at,
      template: toTemplate(text, format, { keyFor, report, at }),
    }));
    const output = drawing.keyFor(call.output ?? (calls.length === 1 ? "answer" : `answer_${nth + 1}`));
    const closed = texts.filter(({ template }) => template === null);
    if (closed.length > 0) {
      steps.push(
        drawing.placeholder(title, {
          name: title,
          original: call.messages.map(({ who, text }) => `${who}:\n${text}`).join("\n\n"),
          why: "The prompt is a Jinja2 template, which can run code; it's kept as text and never rendered.",
          at: closed[0]?.at ?? call.at,
          findings: report,
          node: { output_keys: [output] },
        }),
      );
    } else {
      const { role, task } = promptOf(call, texts, title, report);
      const required_role = roleRegistry.add({ name: title, description: "", prompt: role });
      const ours = roleRegistry.wants(required_role, call.tools, call.at, report);
      steps.push(
        drawing.add(title, {
          node_type: "agent_task",
          name: title,
          output_keys: [output],
          config: {
            required_role,
            task_description_template: task || "Do what your role says.",
            ...defined({ tools: ours.length > 0 ? ours : undefined }),
          },
        }),
      );
      report.keeps(call.at, `Imported the prompt as the step "${title}" with its own role.`, steps.at(-1));
    }
    if (call.model)
      report.changed(
        call.at,
        `The model ${call.model} was left out: steps use your default model. Choose another in the step.`,
      );
    given.set(call.output ?? `answer_${nth + 1}`, output);
    last = output;
  }
  let before = drawing.start(inputs);
  for (const step of steps) {
    drawing.edge(before, step);
    before = step;
  }
  drawing.edge(before, drawing.end([last]));
  const value = isRaw(source.value) ? source.value : {};
  if (value.memory !== null && value.memory !== undefined)
    report.dropped("memory", "The chain's memory was left out.");
  return { ...roleRegistry.imported(name), graph: drawing.finish() };
}

/** A call's messages as the prompt of a role and the task. A system message with variables goes into the task. */
function promptOf(
  { messages, at }: PromptCall,
  texts: readonly { who: string; template: string | null }[],
  title: string,
  report: Findings,
): { role: string; task: string } {
  const isPlain = texts.every(
    ({ who, template }) => who !== "system" || !/\{\{[A-Za-z_]/.test(template ?? ""),
  );
  const task = texts
    .filter(({ who }) => who !== "system" || !isPlain)
    .map(({ who, template }) => (who === "ai" ? `(assistant) ${template}` : template))
    .join("\n\n");
  if (!isPlain) {
    report.changed(
      at,
      `The system message has variables, which roles don't support; it is in the task of "${title}".`,
    );
    return { role: "", task };
  }
  const role = messages
    .filter(({ who }) => who === "system")
    .map(({ text, format }) =>
      format === "f-string" ? text.replace(/\{\{|\}\}/g, (two) => two.charAt(0)) : text,
    )
    .join("\n\n");
  return { role, task };
}
