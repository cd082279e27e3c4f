// A real MCP server with a tool that only works as a task, for the tests.
import { InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer(
  { name: "tasks", version: "1.0.0" },
  {
    capabilities: { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
    taskStore: new InMemoryTaskStore(),
  },
);
server.experimental.tasks.registerToolTask(
  "research",
  {
    description: "Takes a while",
    inputSchema: { about: z.string() },
    execution: { taskSupport: "required" },
  },
  {
    async createTask({ about }, { taskStore, taskRequestedTtl }) {
      const task = await taskStore.createTask({ ttl: taskRequestedTtl, pollInterval: 50 });
      const end = () =>
        taskStore.storeTaskResult(task.taskId, "completed", {
          content: [{ type: "text", text: `All about ${about}` }],
        });
      if (about !== "everything") setTimeout(() => void end(), 100);
      return { task };
    },
    getTask: (_args, { taskId, taskStore }) => taskStore.getTask(taskId),
    getTaskResult: (_args, { taskId, taskStore }) => taskStore.getTaskResult(taskId),
  },
);
await server.connect(new StdioServerTransport());
