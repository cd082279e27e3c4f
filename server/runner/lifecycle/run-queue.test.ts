import { expect, test } from "vitest";
import { RunQueue } from "./run-queue";

function queueOf(...ids: string[]): RunQueue {
  const queue = new RunQueue();
  for (const id of ids) queue.add(id, id.slice(0, 1));
  return queue;
}

test("workflows take turns for free slots, and the rest keeps waiting", () => {
  const queue = queueOf("a1", "a2", "a3", "b1");
  const begun: string[] = [];
  queue.begin(3, (id) => begun.push(id) > 0);
  expect([begun, queue.size]).toEqual([["a1", "b1", "a2"], 1]);
});

test("a run that doesn't take its slot leaves it to the next run", () => {
  const queue = queueOf("a1", "a2", "a3");
  const tried: string[] = [];
  queue.begin(1, (id) => tried.push(id) > 1);
  expect([tried, queue.size]).toEqual([["a1", "a2"], 1]);
});

test("a start requested during another start is left to the outer start", () => {
  const queue = queueOf("a1", "a2", "a3");
  const begun: string[] = [];
  const begin = (id: string) => {
    queue.begin(1, begin);
    return begun.push(id) > 0;
  };
  queue.begin(2, begin);
  expect([begun, queue.size]).toEqual([["a1", "a2"], 1]);
});
