import type { Findings } from "@/server/domain/base/lenient-reader";
import { Evaluator } from "../../code/evaluator";
import { programsOf, readFiles } from "../../code/files";
import type { Place } from "../../code/program";
import { readPython } from "../../code/python";
import { readTypeScript } from "../../code/typescript";
import { Drawing } from "../../drawing";
import { type Claim, nothingImported, type ReadableFormat } from "../../format";
import { type Source, titleOf } from "../../source";
import { AgentRegistry } from "./agent-registry";
import { DeclaredAgents } from "./agents";
import { drawWorkflow } from "./workflow";

const IMPORTS_TS = /(from|require\()\s*["']@openai\/agents(-\w+)?(\/\w+)?["']/;
const IMPORTS_PY = /^[\uFEFF \t]*(?:from[ \t]+agents(?:\.[\w.]+)?[ \t]+import\b|import[ \t]+agents\b)/m;
/** Frameworks that also create an `Agent` and may have a module of their own called agents. */
const OTHERS = /^[ \t]*(from|import)[ \t]+(crewai|agno|phi|langgraph|autogen_agentchat|google\.adk)(?!\w)/m;
const MAKES_AGENT =
  /\bAgent\s*(?:(?:<[^<>\n]*>|\[[^[\]\n]*\]|\.create)\s*)?\(|\bclass\s+\w+\s*\([^()\n]*\bAgent\b|\bextends\s+Agent\b/;

/** Code of the OpenAI Agents SDK, as Agent Builder exports it and as people write it, in TypeScript and Python. */
export const agentsSdk: ReadableFormat = {
  id: "openai-agents-sdk",
  label: "OpenAI Agents SDK code",
  recognise: (sources) =>
    programsOf(sources).flatMap((files): Claim[] =>
      files.some(({ text }) => MAKES_AGENT.test(text)) &&
      files.some((file) => isOfSdk(file, sources)) &&
      !files.some(({ text }) => OTHERS.test(text))
        ? [{ sure: 3, files }]
        : [],
    ),
  read({ claim, findings, answers, work }) {
    // Who imports all others says what is done.
    const source = claim.files.at(-1);
    if (!source) return nothingImported();
    const joined = readFiles(
      claim.files,
      isPython(source) ? readPython : readTypeScript,
      { findings, work },
      "error",
      codeIn,
    );
    if (!joined) return nothingImported();
    const { program, placeOf } = joined;
    const report = (place: Place): Findings => findings.of(placeOf(place));
    const declared = new DeclaredAgents(new Evaluator(program, work));
    if (declared.all().length === 0) {
      report({ from: 0, to: 0 }).error("", "No readable agent was found in the code.");
      return nothingImported();
    }
    const registry = new AgentRegistry(declared, report, answers.get(MODELS) === "file");
    const name = titleOf(source) || "Imported agents";
    const drawing = new Drawing(name, findings);
    const drawn = drawWorkflow({ declared, registry, drawing, findings: report });
    registry.reportModels();
    const models = [...registry.models.keys()];
    return {
      ...registry.roleRegistry.imported(drawn.title ?? name),
      graph: drawn.isEmpty ? null : drawing.finish(),
      agents: registry.agents,
      choices: models.length === 0 ? [] : [modelChoice(models, answers.get(MODELS))],
    };
  },
};

/** `agents` may also be a file of their own. */
const isOfSdk = ({ text }: Source, all: readonly Source[]): boolean =>
  IMPORTS_TS.test(text) ||
  (IMPORTS_PY.test(text) && !all.some(({ name }) => name === "agents.py")) ||
  /["']agent-builder["']/.test(text);

const MODELS = "models";

const modelChoice = (models: readonly string[], answer: string | undefined) => ({
  id: MODELS,
  question: "Which models do the agents use?",
  options: [
    { value: "own", label: "Default model for all" },
    { value: "file", label: `The file's models: ${models.join(", ")}`.slice(0, 200) },
  ],
  value: answer === "file" ? "file" : "own",
});

/** The code of a text that has it in fences: every line keeps its number, those outside are empty. */
function codeIn({ path, text: whole }: Source): string {
  const text = whole.replace(/^\uFEFF/, "");
  if (!/(^|\.(mdx?|txt|markdown))$/i.test(path) || !/^```/m.test(text)) return text;
  let isCode = false;
  const lines = text.split("\n").map((line) => {
    if (/^\s*```/.test(line)) {
      isCode = !isCode && /^\s*```\s*(py|python|ts|tsx|typescript|js|javascript)\b/i.test(line);
      return "";
    }
    return isCode ? line : "";
  });
  return lines.some((line) => line !== "") ? lines.join("\n") : text;
}

const isPython = ({ path, text }: Source): boolean =>
  /\.py$/i.test(path) || (!/\.[cm]?[jt]sx?$/i.test(path) && !IMPORTS_TS.test(text) && IMPORTS_PY.test(text));
