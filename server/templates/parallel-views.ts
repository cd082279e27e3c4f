import { asks, at, defineTemplate } from "./define";

export const parallelViews = defineTemplate({
  key: "parallel-views",
  title: "Three views at once",
  description: "Three roles look at an idea at the same time; a fourth joins what they found into one brief.",
  graph: {
    graph_id: "three_views_at_once",
    description: "Looks at an idea from three sides at the same time and joins the results.",
    start_node_id: "start",
    nodes: {
      start: asks(
        "Idea",
        {
          idea: {
            title: "Idea",
            examples: ["A repair café in our neighborhood"],
          },
        },
        at(0, 1),
      ),
      facts: {
        id: "facts",
        node_type: "agent_task",
        name: "What is known",
        config: {
          required_role: "Researcher",
          task_description_template: "Gather what is known about this idea and similar ones: {{idea}}",
        },
        input_keys: ["idea"],
        output_keys: ["facts"],
        ui: at(1, 0),
      },
      risks: {
        id: "risks",
        node_type: "agent_task",
        name: "What could go wrong",
        config: {
          required_role: "Analyst",
          task_description_template:
            "Name the three greatest risks of this idea, each with one way to reduce it: {{idea}}",
        },
        input_keys: ["idea"],
        output_keys: ["risks"],
        ui: at(1, 1),
      },
      story: {
        id: "story",
        node_type: "agent_task",
        name: "Why people want it",
        config: {
          required_role: "Writer",
          task_description_template:
            "Tell in one short paragraph what a day looks like for someone who uses this idea: {{idea}}",
        },
        input_keys: ["idea"],
        output_keys: ["story"],
        ui: at(1, 2),
      },
      brief: {
        id: "brief",
        node_type: "agent_task",
        name: "Join into a brief",
        config: {
          required_role: "Editor",
          task_description_template:
            "Join these three views of the idea into a brief of one page, ending with a recommendation.\n\nIdea: {{idea}}\n\nKnown:\n{{facts}}\n\nRisks:\n{{risks}}\n\nStory:\n{{story}}",
          expected_output: "One page: the idea, what speaks for it, what speaks against it, a recommendation",
        },
        input_keys: ["idea", "facts", "risks", "story"],
        output_keys: ["brief"],
        ui: at(2, 1),
      },
      end: { id: "end", node_type: "end", name: "Brief", input_keys: ["brief"], ui: at(3, 1) },
    },
    edges: [
      { id: "edge_1", source_node_id: "start", target_node_id: "facts" },
      { id: "edge_2", source_node_id: "start", target_node_id: "risks" },
      { id: "edge_3", source_node_id: "start", target_node_id: "story" },
      { id: "edge_4", source_node_id: "facts", target_node_id: "brief" },
      { id: "edge_5", source_node_id: "risks", target_node_id: "brief" },
      { id: "edge_6", source_node_id: "story", target_node_id: "brief" },
      { id: "edge_7", source_node_id: "brief", target_node_id: "end" },
    ],
  },
});
