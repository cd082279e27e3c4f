// A real MCP server most of whose tools are not as the protocol wants them, for the tests.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const object = { type: "object" };
const server = new Server({ name: "odd", version: "1.0.0" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [
    { name: "good", inputSchema: object },
    { name: "no_type_in", inputSchema: { properties: { a: { type: "string" } } } },
    { name: "no_type_out", inputSchema: object, outputSchema: { properties: {} } },
    { name: "null_words", title: null, description: null, inputSchema: object },
    { name: "null_required", inputSchema: { type: "object", required: null } },
    { name: "list_out", inputSchema: object, outputSchema: [] },
    { name: "no_input" },
    { inputSchema: object },
    "not a tool",
  ],
}));
server.setRequestHandler(CallToolRequestSchema, () => ({ content: [{ type: "text", text: "seen" }] }));
await server.connect(new StdioServerTransport());
