import { CREW_TOOL_NOTES } from "@/server/domain/crew/crew-tools";

/** Tools that come with Troupe, by the names under which files of teams list them. */
export const BUILTIN_TOOLS: ReadonlySet<string> = new Set([
  ...CREW_TOOL_NOTES.map(({ name }) => name),
  "create_artifact",
  "read_artifact",
  "store_memory",
  "retrieve_memory",
  "search_memory",
  "file_read",
  "file_write",
  "http_request",
  "browse_url",
  "web_search",
  "code_search",
  "calculator",
  "current_time",
  "run_javascript",
]);

const FOREIGN_TOOLS = new Map([
  ["read", "file_read"],
  ["write", "file_write"],
  ["websearch", "web_search"],
  ["webfetch", "browse_url"],
  ["fetch", "browse_url"],
  ["bash", "run_command"],
  ["serperdevtool", "web_search"],
  ["bravesearchtool", "web_search"],
  ["exasearchtool", "web_search"],
  ["tavilysearchtool", "web_search"],
  ["websitesearchtool", "web_search"],
  ["scrapewebsitetool", "browse_url"],
  ["codedocssearchtool", "code_search"],
  ["githubsearchtool", "code_search"],
  ["filereadtool", "file_read"],
  ["filewritertool", "file_write"],
  ["filewritetool", "file_write"],
]);

/** Our name of the equivalent tool of another system, if there is one. */
export function ownToolFor(foreign: string): string | undefined {
  return FOREIGN_TOOLS.get(foreign.toLowerCase());
}
