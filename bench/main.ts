import os from "node:os";
import process from "node:process";
import { type Figure, meets, tableOf } from "./table";

const PARTS: Record<string, () => Promise<Figure[]>> = {
  engine: async () => [
    ...(await (await import("./engine")).measureEngine()),
    ...(await (await import("./cluster")).measureCluster()),
  ],
  maps: async () => (await import("./engine")).measureMaps(),
  freezing: async () => (await import("./freezing")).measureFreezing(),
  thread: async () => (await import("./thread")).measureThread(),
  waiting: async () => (await import("./engine")).measureWaiting(),
  tests: async () => (await import("./scenarios")).measureScenarios(),
  start: async () => (await import("./start")).measureStart(),
  browser: async () => (await import("./browser")).measureBrowser(),
};

const asked = process.argv.slice(2);
const unknown = asked.filter((part) => !Object.hasOwn(PARTS, part));
if (unknown.length > 0) {
  console.error(`There is no part "${unknown[0]}"; there are ${Object.keys(PARTS).join(", ")}.`);
  process.exit(2);
}

console.log(`Node ${process.version}, ${os.cpus().length} cores, load ${os.loadavg()[0]!.toFixed(1)}\n`);
const figures: Figure[] = [];
for (const [name, measure] of Object.entries(PARTS)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  console.log(`Measuring: ${name} ...`);
  figures.push(...(await measure()));
}
console.log(`\n${tableOf(figures)}`);
const missed = figures.filter((figure) => meets(figure) === false).length;
console.log(
  missed === 0
    ? "\nAll targets are met."
    : `\n${missed} of ${figures.filter(({ target }) => target).length} targets are missed.`,
);
process.exit(0);
