import type { OnLimit } from "./role";

/** What happens where a limit of the run is reached, in words. */
export const ON_LIMITS: Record<OnLimit, string> = {
  stop: "Stop the run",
  ask: "Ask a person first",
};
