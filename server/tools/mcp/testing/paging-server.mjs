// A real MCP server that lists its tools page by page, for the tests.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const endless = process.argv[2] === "endless";
const server = new Server({ name: "paging", version: "1.0.0" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
  const page = Number(params?.cursor ?? 0);
  return {
    tools: [{ name: `tool_${page}`, inputSchema: { type: "object" } }],
    ...(endless || page < 2 ? { nextCursor: String(page + 1) } : {}),
  };
});
await server.connect(new StdioServerTransport());
