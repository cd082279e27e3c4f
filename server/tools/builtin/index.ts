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

/** The tools that come with Troupe, apart from those that are carried out by a run itself. */
export function builtinTools({
  workspace,
  memories,
  web,
  search,
  now = Date.now,
}: BuiltinDeps): ToolInterface[] {
  return [
    calculator(),
    currentTime(now),
    ...fileTools(workspace),
    ...memoryTools(memories),
    ...webTools(web),
    ...searchTools(search),
  ];
}
