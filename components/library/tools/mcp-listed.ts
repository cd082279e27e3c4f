import type { Answers } from "@/components/trpc";

/** An MCP server with its tools, as the page of tools lists it. */
export type McpListed = Answers["mcp"]["list"][number];
