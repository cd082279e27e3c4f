/** The sandbox's thread, a model, an expression, and a wait for the kill to fall into. */
export const walkFile = {
  graph_id: "walk",
  start_node_id: "begin",
  nodes: {
    begin: { id: "begin", node_type: "start", output_keys: ["pause"], config: {} },
    think: {
      id: "think",
      node_type: "agent_task",
      config: { required_role: "Walker", task_description_template: "Say something about {{pause}}." },
      input_keys: ["pause"],
      output_keys: ["said"],
    },
    compute: {
      id: "compute",
      node_type: "code",
      config: { source: "return input.pause * 2;" },
      input_keys: ["pause"],
      output_keys: ["doubled"],
    },
    rest: { id: "rest", node_type: "wait", config: { ms: 1_500 } },
    count: {
      id: "count",
      node_type: "transform",
      config: { set: { rounds: "state.rounds + 1" } },
      input_keys: ["rounds"],
      output_keys: ["rounds"],
    },
    finish: { id: "finish", node_type: "end", input_keys: ["said", "doubled", "rounds"] },
  },
  edges: ["begin think", "think compute", "compute count", "count rest", "rest finish"].map((link, at) => {
    const [source_node_id, target_node_id] = link.split(" ");
    return { id: `e${at}`, source_node_id, target_node_id };
  }),
  global_state_schema: {
    type: "object",
    properties: { pause: { type: "number" }, rounds: { type: "number", default: 0 } },
  },
};

export const ROLE_OF_WALK = { name: "Walker", description: "Goes through." };
