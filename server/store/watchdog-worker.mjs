// The thread of watchdog.ts: looks whether the server's thread still comes round, and notes on disk what it may be stuck in.
import { writeFileSync } from "node:fs";
import { workerData } from "node:worker_threads";

const { file, memory, everyMs, misses, slots, slotBytes } = workerData;
const numbers = new Int32Array(memory);
const decoder = new TextDecoder();
let seen = -1;
let missed = 0;
let noted = "";

// Ticks are counted instead of time: while the machine sleeps neither thread ticks, and afterwards each does once.
setInterval(() => {
  const beat = Atomics.load(numbers, 0);
  missed = beat === seen ? missed + 1 : 0;
  seen = beat;
  if (missed >= misses) note(underWay().join(" "));
  else if (missed === 0) note("");
}, everyMs);

function note(text) {
  if (text === noted) return;
  try {
    writeFileSync(file, text, { mode: 0o600 });
    noted = text;
  } catch {
    // Tried again at the next tick.
  }
}

/** The runs whose slots count steps. */
function underWay() {
  const ids = [];
  for (let slot = 1; slot <= slots; slot++) {
    const at = slot * slotBytes;
    if (Atomics.load(numbers, at / 4) === 0) continue;
    const id = new Uint8Array(memory, at + 8, numbers[at / 4 + 1]);
    ids.push(decoder.decode(id.slice()));
  }
  return ids;
}
