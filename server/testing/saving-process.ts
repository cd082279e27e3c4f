import path from "node:path";
import { openDb } from "@/db/open";
import { newWorkflowVersions } from "@/server/store/versions/workflow-versions";
import { WorkflowStore } from "@/server/store/workflows";
import { savedGraph } from "./saved-graph";

// Saves a workflow every five minutes by its own clock, and publishes each one, until it is killed. Prints how many it saved.

const [folder = ""] = process.argv.slice(2);
const db = openDb(path.join(folder, "troupe.db"));
let now = Date.parse("2026-01-01T00:00:00Z");
const workflows = new WorkflowStore(db, () => now);
const versions = newWorkflowVersions(db, () => now);
const id = workflows.create({ name: "Saved", graph: savedGraph(0) });
const about = { name: "Saved", note: "", by: "test", roles: [], withheld: [] };

for (let count = 1; ; count++) {
  now += 5 * 60_000;
  workflows.save({ id, revision: count, graph: savedGraph(count) });
  versions.publish(id, { ...about, note: String(count), graph: savedGraph(count) });
  process.stdout.write(`${count}\n`);
}
