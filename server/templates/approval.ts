import { at, defineTemplate } from "./define";

/** The example of the reference documents, node for node. */
export const approval = defineTemplate({
  key: "approval",
  title: "Approval",
  description: "An agent decides on a request; a router then sends it one way or the other.",
  graph: {
    graph_id: "simple_approval_workflow",
    description: "A workflow that gets an approval status and then branches.",
    start_node_id: "node_start",
    global_state_schema: {
      properties: {
        user_request: { type: "string", examples: ["Please approve my vacation for next week."] },
      },
    },
    nodes: {
      node_start: {
        id: "node_start",
        node_type: "start",
        name: "Start Workflow",
        output_keys: ["user_request"],
        ui: at(0, 0.5),
      },
      node_get_approval: {
        id: "node_get_approval",
        node_type: "agent_task",
        name: "Get Approval Status",
        config: {
          required_role: "ApprovalAgent",
          task_description_template: "Review request: {{user_request}} for approval.",
        },
        input_keys: ["user_request"],
        output_keys: ["approval_status", "approver_comments"],
        ui: at(1, 0.5),
      },
      node_approval_router: {
        id: "node_approval_router",
        node_type: "conditional_router",
        name: "Check Approval",
        config: { router_function_name: "approval_status_router" },
        input_keys: ["approval_status"],
        ui: at(2, 0.5),
      },
      node_approved_action: {
        id: "node_approved_action",
        node_type: "agent_task",
        name: "Perform Approved Action",
        config: {
          required_role: "ActionAgent",
          task_description_template: "Execute action for approved request: {{user_request}}.",
        },
        input_keys: ["user_request", "approver_comments"],
        output_keys: ["action_result"],
        ui: at(3),
      },
      node_rejected_action: {
        id: "node_rejected_action",
        node_type: "agent_task",
        name: "Handle Rejection",
        config: {
          required_role: "NotificationAgent",
          task_description_template:
            "Notify user of rejection for: {{user_request}}. Comments: {{approver_comments}}.",
        },
        input_keys: ["user_request", "approver_comments"],
        output_keys: ["notification_status"],
        ui: at(3, 1),
      },
      node_end_approved: {
        id: "node_end_approved",
        node_type: "end",
        name: "End (Approved)",
        ui: at(4),
      },
      node_end_rejected: {
        id: "node_end_rejected",
        node_type: "end",
        name: "End (Rejected)",
        ui: at(4, 1),
      },
    },
    edges: [
      { id: "edge_1", source_node_id: "node_start", target_node_id: "node_get_approval" },
      { id: "edge_2", source_node_id: "node_get_approval", target_node_id: "node_approval_router" },
      {
        id: "edge_3",
        source_node_id: "node_approval_router",
        target_node_id: "node_approved_action",
        edge_label: "approved",
      },
      {
        id: "edge_4",
        source_node_id: "node_approval_router",
        target_node_id: "node_rejected_action",
        edge_label: "rejected",
      },
      { id: "edge_5", source_node_id: "node_approved_action", target_node_id: "node_end_approved" },
      { id: "edge_6", source_node_id: "node_rejected_action", target_node_id: "node_end_rejected" },
    ],
  },
});
