import { bareCommitsPerSecond } from "./bare-sqlite";
import { chainOf, newBench } from "./engine";

const b = newBench();
const g = chainOf(500),
  five = chainOf(3);
await b.run(g, 5);
const what = process.argv[2];
const c0 = process.cpuUsage();
const t = performance.now();
let n = 0;
if (what === "chain")
  for (let i = 0; i < 60; i++) {
    await b.run(g);
    n += 500;
  }
else if (what === "five")
  for (let i = 0; i < 4; i++) {
    await b.run(five, 1000);
    n += 1000;
  }
const c = process.cpuUsage(c0);
console.log(what, n / ((performance.now() - t) / 1000), "per s; cpu us each", (c.user + c.system) / n);
console.log("bare", bareCommitsPerSecond(10000));
await b.close();
