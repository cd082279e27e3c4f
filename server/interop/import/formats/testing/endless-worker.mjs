// Stands in for the thread that reads imports: what the first file says goes wrong.
import { parentPort } from "node:worker_threads";

parentPort.on("message", ({ sent: [{ text }] }) => {
  if (text === "endless") for (;;);
  const kept = [];
  while (text === "memory") kept.push(Array.from({ length: 10_000 }, () => ({ kept })));
  parentPort.postMessage(
    text === "fault"
      ? { failed: "planted" }
      : { read: { found: [], picked: null, imported: null, findings: [] } },
  );
});
parentPort.postMessage("ready");
