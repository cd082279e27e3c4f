import { at, defineTemplate } from "./define";

export const researchAndWrite = defineTemplate({
  key: "research-and-write",
  title: "Research and write",
  description: "A researcher gathers findings, a writer makes an article of them, an editor polishes it.",
  graph: {
    graph_id: "research_and_write",
    description: "Researches a topic and writes an article about it for its readers.",
    start_node_id: "start",
    nodes: {
      start: {
        id: "start",
        node_type: "start",
        name: "Topic",
        output_keys: ["topic", "audience"],
        config: {
          input_schema: {
            type: "object",
            properties: {
              topic: {
                type: "string",
                title: "Topic",
                description: "What the article is about",
                examples: ["Why cities are planting more trees"],
              },
              audience: {
                type: "string",
                title: "Readers",
                description: "Who will read it",
                default: "curious newcomers",
              },
            },
            required: ["topic"],
          },
          audience: "curious newcomers",
        },
        ui: at(0),
      },
      research: {
        id: "research",
        node_type: "agent_task",
        name: "Gather findings",
        config: {
          required_role: "Researcher",
          task_description_template:
            "Gather what readers should know about: {{topic}}.\nThe readers are {{audience}}.\nWrite findings as short points, the most important first, and mark what is uncertain.",
          expected_output: "Five to ten short points",
        },
        input_keys: ["topic", "audience"],
        output_keys: ["findings"],
        ui: at(1),
      },
      write: {
        id: "write",
        node_type: "agent_task",
        name: "Write a draft",
        config: {
          required_role: "Writer",
          task_description_template:
            "Write an article about {{topic}} for {{audience}}.\nUse only these findings:\n{{findings}}",
          expected_output: "An article with a title and three to five short sections",
        },
        input_keys: ["topic", "audience", "findings"],
        output_keys: ["draft"],
        ui: at(2),
      },
      edit: {
        id: "edit",
        node_type: "agent_task",
        name: "Polish the text",
        config: {
          required_role: "Editor",
          task_description_template:
            "Edit this article about {{topic}} for clarity and correctness.\n\nDraft:\n{{draft}}\n\nFindings it must agree with:\n{{findings}}",
          expected_output: "The whole article, ready to publish",
        },
        input_keys: ["topic", "draft", "findings"],
        output_keys: ["article"],
        ui: at(3),
      },
      end: { id: "end", node_type: "end", name: "Article", input_keys: ["article"], ui: at(4) },
    },
    edges: [
      { id: "edge_1", source_node_id: "start", target_node_id: "research" },
      { id: "edge_2", source_node_id: "research", target_node_id: "write" },
      { id: "edge_3", source_node_id: "write", target_node_id: "edit" },
      { id: "edge_4", source_node_id: "edit", target_node_id: "end" },
    ],
  },
});
