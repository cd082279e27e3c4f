// A process of its own for recovery-process.test.ts: the real host on a real database. Something never lets go of the thread, as
// its last argument says: a step whose task says "freeze", "at once" or "later", after an await as where answers are read; or, at
// the first start, a request. It says what became of its runs.
import path from "node:path";
import process from "node:process";
import { openDb } from "@/db/open";
import { draw } from "@/server/domain/testing/drawing";
import { Host } from "@/server/runner/lifecycle/host";
import { fakeModels, newStage, role } from "@/server/runner/testing";
import { newRunningMarker } from "@/server/store/runs/running-marker";
import { newRunStore } from "@/server/store/runs/runs";
import { executing, newWatchdog } from "@/server/store/watchdog";

const folder = process.argv[2]!;
const isFirst = process.argv[3] === "first";
const when = process.argv[4];
const db = openDb(path.join(folder, "troupe.db"));
const store = newRunStore(db);
const models = fakeModels(async ({ messages }) => {
  const { content } = messages.at(-1)!;
  if (when === "later")
    await new Promise((resolve) => setTimeout(resolve, content.includes("freeze") ? 250 : 500));
  while (when !== "request" && content.includes("freeze")); // What a pattern or a loop that never ends does to the thread.
  await new Promise((resolve) => setTimeout(resolve, 100));
  return "done";
});
const watchdog = newWatchdog(folder, { everyMs: 150, endAfter: 10 });
const host = new Host({
  store,
  effects: { models },
  runningMarker: newRunningMarker(folder),
  watchdog,
});

const asks = (what: string) =>
  draw("start > a > b > w > end", {
    a: {
      node_type: "agent_task",
      config: { required_role: "Worker", task_description_template: "begin" },
      output_keys: ["a"],
    },
    b: {
      node_type: "agent_task",
      config: { required_role: "Worker", task_description_template: what },
      output_keys: ["b"],
    },
    w: { config: { ms: 400 } },
  });

setInterval(() => {
  const runs = store.list({ limit: 100 });
  const statuses = runs.map(({ workflow_id, status, final_status, held }) => [
    workflow_id,
    held?.code ?? final_status ?? status,
  ]);
  process.stdout.write(`${JSON.stringify(Object.fromEntries(statuses))}\n`);
}, 50);

host.recover();
if (isFirst) {
  const stage = newStage({ db, host });
  for (const name of ["one", "two", "three"])
    stage.start(asks("go on"), { workflow: name, roles: [role("Worker")] });
  stage.start(asks("freeze"), { workflow: "freezer", roles: [role("Worker")] });
  const freeze = () => {
    for (;;);
  };
  if (when === "request") setTimeout(() => executing.run({ request: "POST /api/v1/imports" }, freeze), 200);
}
// Only now that the runs are stored, which may take long on a busy machine.
watchdog.start();
