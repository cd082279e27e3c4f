import { asks, at, defineTemplate } from "./define";

export const dataAnalysis = defineTemplate({
  key: "data-analysis",
  title: "Data analysis with a manager",
  description:
    "A manager sends each step to one member of its team, and answers once all the parts are there.",
  graph: {
    graph_id: "data_analysis",
    description:
      "A manager leads an interpreter of data, an analyst and a writer to the answer of a question.",
    start_node_id: "start",
    nodes: {
      start: asks(
        "Data",
        {
          question: {
            title: "Question",
            description: "What you want to know of the data",
            examples: ["Which months sell best, and how much do they differ?"],
          },
          data: {
            title: "Data",
            description: "Numbers as text, such as lines of a CSV file",
            examples: ["jan 120, feb 95, mar 210, apr 180, may 160, jun 205"],
          },
        },
        at(0),
      ),
      crew: {
        id: "crew",
        node_type: "crew_task",
        name: "Analyse",
        config: {
          plan_description_template: "{{question}}",
          crew: {
            crew_id: "analysis_team",
            process: "hierarchical",
            manager: { agent_id: "manager" },
            agents: [
              { agent_id: "manager", role_name: "Manager" },
              { agent_id: "interpreter", role_name: "CodeInterpreter" },
              { agent_id: "analyst", role_name: "Analyst" },
              { agent_id: "writer", role_name: "Writer" },
            ],
          },
        },
        input_keys: ["question", "data"],
        output_keys: ["answer"],
        ui: at(1),
      },
      end: { id: "end", node_type: "end", name: "Answer", input_keys: ["answer"], ui: at(2) },
    },
    edges: [
      { id: "edge_1", source_node_id: "start", target_node_id: "crew" },
      { id: "edge_2", source_node_id: "crew", target_node_id: "end" },
    ],
  },
});
