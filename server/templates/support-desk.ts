import { asks, at, defineTemplate } from "./define";

export const supportDesk = defineTemplate({
  key: "support-desk",
  title: "Support desk",
  description: "A front desk takes in a customer's request and hands it over to whoever knows the matter.",
  graph: {
    graph_id: "support_desk",
    description: "Agents hand a customer's request over to each other until one of them answers it.",
    start_node_id: "start",
    nodes: {
      start: asks(
        "Request",
        {
          request: {
            title: "What does the customer write?",
            examples: ["I was charged twice on my last invoice. Can I get a refund?"],
          },
        },
        at(0),
      ),
      crew: {
        id: "crew",
        node_type: "crew_task",
        name: "Support",
        config: {
          plan_description_template: "Answer this customer: {{request}}",
          crew: {
            crew_id: "support_desk",
            process: "swarm",
            entry_agent: "front_desk",
            max_handoffs: 4,
            agents: [
              { agent_id: "front_desk", role_name: "SupportAgent", handoffs: ["billing", "technical"] },
              { agent_id: "billing", role_name: "BillingSpecialist", handoffs: ["front_desk", "technical"] },
              { agent_id: "technical", role_name: "TechnicalSupport", handoffs: ["front_desk", "billing"] },
            ],
          },
        },
        input_keys: ["request"],
        output_keys: ["reply"],
        ui: at(1),
      },
      end: { id: "end", node_type: "end", name: "Reply", input_keys: ["reply"], ui: at(2) },
    },
    edges: [
      { id: "edge_1", source_node_id: "start", target_node_id: "crew" },
      { id: "edge_2", source_node_id: "crew", target_node_id: "end" },
    ],
  },
});
