// A real MCP server over standard input and output, for the tests.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "testing", version: "1.0.0" });
server.registerTool("environment", { description: "Names of its variables", inputSchema: {} }, () => ({
  content: [
    { type: "text", text: JSON.stringify({ names: Object.keys(process.env), args: process.argv.slice(2) }) },
  ],
}));
server.registerTool(
  "long",
  { description: "Gives a long text", inputSchema: { chars: z.number() } },
  ({ chars }) => ({ content: [{ type: "text", text: "all about bees ".repeat(chars / 15) }] }),
);
server.registerTool(
  "leave",
  { description: "Ends the server", inputSchema: { code: z.number() } },
  ({ code }) => process.exit(code),
);
await server.connect(new StdioServerTransport());
