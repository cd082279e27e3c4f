// A process for server/triggers/schedule-process.test.ts: the real services on a real database. The first process creates
// schedules with a long downtime behind them. Each kills itself at the effect named in its arguments, or exits once no fire is
// open and every run has ended.
import path from "node:path";
import process from "node:process";
import { openDb } from "@/db/open";
import { draw } from "@/server/domain/testing/drawing";
import { ScheduleConfig } from "@/server/domain/trigger/schedule";
import { newServices } from "@/server/services";

const [, , folder = "", when = "never", nth = "0"] = process.argv;
const db = openDb(path.join(folder, "troupe.db"));
const services = newServices(db, { dataDir: folder });
const { host, triggerStore, triggers, workflows, runs } = services;

let effects = 0;
const die = () => {
  if (++effects === Number(nth)) process.kill(process.pid, "SIGKILL");
};
const start = host.start.bind(host);
host.start = (request) => {
  if (when === "before a start") die();
  const made = start(request);
  if (when === "after a start") die();
  return made;
};
const { addFires } = triggerStore;
triggerStore.addFires = (...fires) => {
  addFires(...fires);
  if (when === "after a decision") die();
};

if (triggerStore.ofKind("schedule").length === 0)
  for (const overlap of ["allow_all", "buffer_all", "skip"]) {
    const id = workflows.create({
      name: overlap,
      graph: draw("start > w > end", { w: { config: { ms: 1 } } }),
    });
    const config = ScheduleConfig.parse({ every: { unit: "minute" }, time_zone: "UTC", overlap });
    const next_at = Math.floor(Date.now() / 60_000) * 60_000 - 40 * 60_000;
    triggerStore.create(id, { kind: "schedule", config }, { by: "session:s", enabled: true, next_at });
  }
host.recover();
triggers.start();
setInterval(() => {
  const isOpen =
    triggerStore.ofKind("schedule").some(({ next_at }) => next_at! < Date.now()) ||
    triggerStore.openFires("pending").length + triggerStore.openFires("buffered").length > 0 ||
    runs.list({ limit: 200 }).some(({ status }) => status !== "finished");
  if (!isOpen) process.exit(0);
}, 50);
