import { RESULTS_FOLDER, type WorkspaceStore } from "./workspace";

/** Keeps a whole result of a tool, of which the model gets the ends only, among the files of its run; answers its artifact id. */
export const keepResult =
  (workspace: Pick<WorkspaceStore, "write">) =>
  (
    runId: string,
    callKey: string,
    { tool, tainted }: { tool: string; tainted: boolean },
    text: string,
  ): string =>
    workspace.write(
      runId,
      pathOf(callKey.startsWith(`${runId}/`) ? callKey.slice(runId.length + 1) : callKey),
      text,
      {
        kind: "result",
        source: { tool_name: tool },
        tainted,
        writtenBy: callKey,
      },
    ).artifact_id;

/** Without the run, so that the file has the same id in each fork. */
const pathOf = (key: string) => `${RESULTS_FOLDER}/${key.replace(/[^A-Za-z0-9]+/g, "-")}.txt`;
