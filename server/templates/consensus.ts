import { asks, at, defineTemplate } from "./define";

export const consensus = defineTemplate({
  key: "consensus",
  title: "Decide together",
  description:
    "Four roles vote on a proposal without seeing each other, then once more with everybody's reasons.",
  graph: {
    graph_id: "decide_together",
    description: "A crew votes on a proposal in up to two rounds; it needs everybody's agreement.",
    start_node_id: "start",
    nodes: {
      start: asks(
        "Proposal",
        {
          proposal: {
            title: "Proposal",
            description: "One decision that can be approved or rejected",
            examples: ["Open the library on Sunday afternoons, for three months as a trial"],
          },
        },
        at(0, 0.5),
      ),
      crew: {
        id: "crew",
        node_type: "crew_task",
        name: "Vote",
        config: {
          plan_description_template: "{{proposal}}",
          crew: {
            crew_id: "council",
            process: "consensus",
            manager: { agent_id: "chair" },
            consensus: { rule: "unanimous", quorum: 0.75, rounds: 2, tie: "reject" },
            agents: [
              {
                agent_id: "chair",
                role_name: "Planner",
                backstory: "You keep the vote fair and to the point.",
              },
              { agent_id: "researcher", role_name: "Researcher", backstory: "You care for what is known." },
              { agent_id: "analyst", role_name: "Analyst", backstory: "You care for what could go wrong." },
              { agent_id: "writer", role_name: "Writer", backstory: "You care for the people concerned." },
            ],
          },
        },
        input_keys: ["proposal"],
        output_keys: ["outcome", "reasons"],
        ui: at(1, 0.5),
      },
      decided: {
        id: "decided",
        node_type: "conditional_router",
        name: "Approved?",
        config: {
          kind: "expression",
          conditions: [{ label: "approved", when: 'state.outcome == "approved"' }],
          default_label: "not approved",
        },
        input_keys: ["outcome"],
        ui: at(2, 0.5),
      },
      approved: {
        id: "approved",
        node_type: "end",
        name: "Approved",
        input_keys: ["outcome", "reasons"],
        ui: at(3, 0),
      },
      rejected: {
        id: "rejected",
        node_type: "end",
        name: "Not approved",
        input_keys: ["outcome", "reasons"],
        ui: at(3, 1),
      },
    },
    edges: [
      { id: "edge_1", source_node_id: "start", target_node_id: "crew" },
      { id: "edge_2", source_node_id: "crew", target_node_id: "decided" },
      { id: "edge_3", source_node_id: "decided", target_node_id: "approved", edge_label: "approved" },
      {
        id: "edge_4",
        source_node_id: "decided",
        target_node_id: "rejected",
        edge_label: "not approved",
        is_default: true,
      },
    ],
  },
});
