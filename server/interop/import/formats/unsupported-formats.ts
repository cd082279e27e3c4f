import { isRaw, type Raw } from "@/server/domain/base/lenient-reader";
import { claimEach, type Sureness, type UnsupportedFormat } from "../format";
import { rawsOf, textOf } from "../values";

/** Formats that are recognized but can't be imported: the error names the format and what to do instead. */

const LATER = "Troupe can't import these yet. Build the workflow here and copy the prompts into its nodes.";

const inner = (value: unknown, key: string): Raw => (isRaw(value) && isRaw(value[key]) ? value[key] : {});

function unsupported(
  id: string,
  label: string,
  is: (value: Raw) => boolean,
  { sure = 2, instead = LATER }: { sure?: Sureness; instead?: string } = {},
): UnsupportedFormat {
  return {
    id,
    label,
    instead,
    recognise: claimEach((source) => (isRaw(source.value) && is(source.value) ? sure : null)),
  };
}

const typesOf = (value: unknown): string[] =>
  rawsOf(value).flatMap(({ type }) => (typeof type === "string" ? [type] : []));
const namesOf = (value: unknown): string[] =>
  rawsOf(value).flatMap(({ data }) => (isRaw(data) && typeof data.name === "string" ? [data.name] : []));
const isFlowise = ({ nodes, edges }: Raw) =>
  Array.isArray(nodes) &&
  Array.isArray(edges) &&
  rawsOf(nodes).some(({ data }) => isRaw(data) && ("inputParams" in data || "inputAnchors" in data));
const kindsIn = (actions: unknown): boolean => rawsOf(actions).some(({ kind }) => typeof kind === "string");

/** Recognizes code of a supported framework by its imports; checked only if there is nothing but text. */
const codeOf = (id: string, label: string, imports: RegExp, instead: string): UnsupportedFormat => ({
  id,
  label,
  instead,
  recognise: (sources) => {
    const files = sources.filter(({ path, text }) => !/\.(md|mdx|txt)$/i.test(path) && imports.test(text));
    return files.length > 0 && sources.every(({ value }) => value === undefined) ? [{ sure: 1, files }] : [];
  },
});

export const UNSUPPORTED_FORMATS: readonly UnsupportedFormat[] = [
  codeOf(
    "crewai-other-code",
    "CrewAI Python code that creates no agent, task or crew",
    /^[\uFEFF \t]*(from|import)[ \t]+crewai\b/m,
    "Import the crew's whole folder, its crew.jsonc, or a flow as YAML instead.",
  ),
  codeOf(
    "langgraph-code",
    "LangGraph code, which is not supported",
    /^[\uFEFF \t]*(from|import)[ \t]+langgraph\b|["']@langchain\/langgraph["']/m,
    "Import the output of graph.get_graph().to_json() or graph.get_graph().draw_mermaid() instead.",
  ),
  codeOf(
    "langchain-code",
    "LangChain code, which is not supported",
    /^[\uFEFF \t]*(from|import)[ \t]+langchain(_\w+)?\b|["'](@langchain\/|langchain(\/|["']))/m,
    "Import the output of langchain_core.load.dumps(chain), or the file that prompt.save() writes, instead.",
  ),
  codeOf(
    "autogen-code",
    "AutoGen Python code, which is not supported",
    /^[\uFEFF \t]*(from|import)[ \t]+autogen(_agentchat|_ext|_core)?\b/m,
    "Import the output of team.dump_component().model_dump_json() instead.",
  ),
  unsupported(
    "n8n",
    "an n8n workflow",
    ({ nodes, connections }) =>
      Array.isArray(nodes) &&
      isRaw(connections) &&
      typesOf(nodes).some((type) => /^(@?[\w-]+\/)?n8n-nodes|\.[A-Za-z]/.test(type)),
  ),
  unsupported(
    "flowise-agentflow",
    "a Flowise agentflow",
    (value) => isFlowise(value) && namesOf(value.nodes).some((name) => /Agentflow$/.test(name)),
    { sure: 3 },
  ),
  unsupported("flowise", "a Flowise chatflow", isFlowise),
  unsupported(
    "langflow",
    "a Langflow flow",
    (value) =>
      rawsOf(inner(value, "data").nodes).length > 0 &&
      (typesOf(inner(value, "data").nodes).some((type) => /^(genericNode|noteNode)$/.test(type)) ||
        rawsOf(inner(value, "data").nodes).some(({ data }) => isRaw(data) && isRaw(data.node))),
  ),
  unsupported(
    "dify",
    "a Dify app",
    (value) => {
      const graph = isRaw(value.graph) ? value.graph : inner(inner(value, "workflow"), "graph");
      return (
        (value.kind === "app" && isRaw(value.app)) ||
        (isRaw(value.app) && typeof value.app.mode === "string") ||
        (rawsOf(graph.nodes).length > 0 &&
          rawsOf(graph.nodes).every(({ data }) => isRaw(data) && "type" in data) &&
          (value.kind === "graph" || "dependencies" in value || "version" in value))
      );
    },
    { sure: 3 },
  ),
  unsupported(
    "agent-framework",
    "a Microsoft Agent Framework workflow",
    ({ kind, trigger, actions }) =>
      (typeof kind === "string" && /^workflow$/i.test(kind) && isRaw(trigger)) ||
      kindsIn(actions) ||
      (isRaw(trigger) && kindsIn(trigger.actions)),
  ),
  unsupported(
    "agent-framework-agent",
    "a Microsoft Agent Framework agent",
    ({ kind, instructions }) =>
      typeof kind === "string" &&
      /^(prompt|hosted|containeragent)$/i.test(kind) &&
      typeof instructions === "string",
  ),
  unsupported(
    "google-adk",
    "a Google ADK agent",
    ({ agent_class, sub_agents, instruction, name }) =>
      typeof agent_class === "string" ||
      (typeof name === "string" && typeof instruction === "string" && Array.isArray(sub_agents)),
  ),
  unsupported(
    "prompt-flow",
    "a Prompt flow",
    ({ nodes, outputs, inputs }) =>
      (isRaw(inputs) || isRaw(outputs)) &&
      rawsOf(nodes).some(
        ({ type, source, inputs }) =>
          typeof type === "string" &&
          /^(llm|python|prompt|custom_llm)$/.test(type) &&
          (isRaw(source) || isRaw(inputs)),
      ),
  ),
  unsupported(
    "open-agent-spec",
    "an Open Agent Spec file",
    (value) =>
      (typeof value.component_type === "string" && /^[A-Z]/.test(value.component_type)) ||
      "agentspec_version" in value ||
      "$referenced_components" in value,
    { sure: 3 },
  ),
  unsupported(
    "praisonai",
    "a PraisonAI file",
    ({ framework, roles, agents, steps, workflow }) =>
      (typeof framework === "string" && isRaw(roles)) ||
      (isRaw(agents) &&
        Array.isArray(steps) &&
        rawsOf(agents).some((agent) => "role" in agent || "instructions" in agent)) ||
      (isRaw(workflow) && Array.isArray(workflow.steps) && isRaw(agents)) ||
      (isRaw(roles) && rawsOf(roles).some((role) => "backstory" in role && "tasks" in role)),
    { sure: 3 },
  ),
  unsupported(
    "cagent",
    "a Docker cagent file",
    ({ agents, models }) =>
      isRaw(agents) &&
      rawsOf(agents).length > 0 &&
      rawsOf(agents).every((agent) => "instruction" in agent || "model" in agent) &&
      (isRaw(agents.root) || isRaw(models)),
  ),
  unsupported(
    "langgraph-pointer",
    "a langgraph.json, which only refers to code",
    ({ graphs, nodes }) =>
      nodes === undefined &&
      isRaw(graphs) &&
      Object.values(graphs).some(
        (graph) => typeof graph === "string" || (isRaw(graph) && typeof graph.path === "string"),
      ),
    {
      sure: 3,
      instead:
        "Import the output of graph.get_graph().to_json() or graph.get_graph().draw_mermaid() from Python instead.",
    },
  ),
  unsupported("taskmaster", "a Taskmaster task list", (value) => {
    const lists = Array.isArray(value.tasks)
      ? [value.tasks]
      : Object.values(value).flatMap((tag) => (isRaw(tag) && Array.isArray(tag.tasks) ? [tag.tasks] : []));
    return lists.some((tasks) =>
      rawsOf(tasks).some(
        (task) => "title" in task && ("testStrategy" in task || "details" in task || "subtasks" in task),
      ),
    );
  }),
  unsupported(
    "spec-kit",
    "a Spec Kit workflow",
    (value) =>
      isRaw(value.workflow) &&
      "schema_version" in value &&
      Array.isArray(value.steps) &&
      !("nodes" in value.workflow),
  ),
  unsupported(
    "taskweaver-example",
    "a TaskWeaver example of a conversation",
    ({ rounds }) => rawsOf(rounds).some((round) => Array.isArray(round.post_list)),
    { instead: "A record can't be executed. Import the files of the roles instead." },
  ),
  {
    id: "metagpt-plan",
    label: "a list of MetaGPT commands",
    instead: LATER,
    recognise: claimEach(({ value }) =>
      Array.isArray(value) &&
      rawsOf(value).some(({ command_name }) => textOf(command_name).startsWith("Plan."))
        ? 2
        : null,
    ),
  },
];
