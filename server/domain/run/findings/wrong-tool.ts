import { type Detector, named, of, placeOf } from "./finding";

/** An agent asked for a tool that belongs to another role, or that there is not. What a person declined is no fault of its. */
export const wrongTool: Detector = ({ agents, state }) =>
  [...agents.values()].flatMap((own) => {
    const asked = new Set<string>();
    return of(own, "tool_call_refused").flatMap((event) => {
      const { tool_name, status_code } = event.payload;
      const held = of(own, "agent_started").some(({ payload }) => payload.tools?.includes(tool_name));
      if (held || (status_code !== 403 && status_code !== 404) || asked.has(tool_name)) return [];
      asked.add(tool_name);
      const owners = state.roles.filter(({ tools }) => tools.includes(tool_name)).map(({ name }) => name);
      return [
        {
          kind: "wrong_tool" as const,
          ...placeOf(event),
          said:
            owners.length > 0
              ? `${named(event.agent_id)} called ${tool_name}, which belongs to ${owners.join(" and ")}.`
              : status_code === 404
                ? `${named(event.agent_id)} called ${tool_name}, which doesn't exist.`
                : `${named(event.agent_id)} called ${tool_name}, which its role doesn't allow.`,
          advice:
            owners.length > 0
              ? `Assign the task to ${owners[0]}, allow delegation, or add the tool to this role.`
              : "List the available tools in the role, or add the missing one.",
        },
      ];
    });
  });
