import type { ReactNode } from "react";
import type { RunViewStore } from "./live/run-view-store";
import { RunProvider } from "./run-context";
import { type RunPage, RunPageProvider } from "./run-page-context";

const nothing = () => undefined;

/** What a part of a run's page finds around it, for tests. The run may begin after this was written down, before it is shown. */
export function OnRunPage({
  store,
  runId,
  page,
  children,
}: {
  store: RunViewStore;
  runId: () => string;
  page?: Partial<RunPage>;
  children: () => ReactNode;
}) {
  const usual = {
    held: null,
    onResumed: nothing,
    openFile: nothing,
    openCrew: nothing,
    openNode: nothing,
    openAsks: nothing,
  };
  return (
    <RunProvider store={store}>
      <RunPageProvider value={{ ...usual, runId: runId(), ...page }}>{children()}</RunPageProvider>
    </RunProvider>
  );
}
