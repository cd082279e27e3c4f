import type { ToolInterface } from "../define";
import { calculator } from "./calculator";
import { currentTime } from "./current-time";
import { fileTools } from "./files";
import { memoryTools } from "./memory";
import { type SearchDeps, searchTools } from "./search";
import { type WebDeps, webTools } from "./web";

export interface BuiltinDeps {
  workspace: Parameters<typeof fileTools>[0];
  memories: Parameters<typeof memoryTools>[0];
  web: WebDeps;
  search: SearchDeps;
  /** Unix milliseconds. */
  now?: () => number;
}

/** Those that need nothing of the server's: workers have them, too. */
export const portableTools = ({ web, now = Date.now }: Pick<BuiltinDeps, "web" | "now">): ToolInterface[] => [
  calculator(),
  currentTime(now),
  ...webTools(web),
];

/** The built-in tools, except those that the run itself executes. */
export function builtinTools({
  workspace,
  memories,
  web,
  search,
  now = Date.now,
}: BuiltinDeps): ToolInterface[] {
  return [
    ...portableTools({ web, now }),
    ...fileTools(workspace),
    ...memoryTools(memories),
    ...searchTools(search),
  ];
}
