import { expect, test } from "vitest";
import { type Follower, Followers, type RunFrame, type StatusTick, Watchers } from "./followers";

const of = (id: string): RunFrame => ({
  kind: "live",
  frames: [{ type: "llm_delta", call_id: id, channel: "content", offset: 0, text: id }],
});
const END: RunFrame = { kind: "end" };

async function received(follower: Follower): Promise<RunFrame[]> {
  const frames: RunFrame[] = [];
  for await (const frame of follower.frames()) frames.push(frame);
  return frames;
}

test("a follower that leaves receives nothing more, and others continue, even if it leaves again", async () => {
  const followers = new Followers();
  const [ann, ben, other] = [followers.join("run"), followers.join("run"), followers.join("other")];
  followers.send("run", of("one"));
  ann.leave();
  followers.send("run", of("two"));
  ben.leave();
  // Nobody follows it now, and somebody new begins.
  const cara = followers.join("run");
  ann.leave();
  ben.leave();
  followers.send("run", of("three"));
  followers.send("run", END);
  followers.close();
  expect(await Promise.all([ann, ben, cara, other].map(({ follower }) => received(follower)))).toEqual([
    [of("one")],
    [of("one"), of("two")],
    [of("three"), END],
    [],
  ]);
});

test("a slow follower is dropped at 5000 pending frames, which it can still read", async () => {
  const followers = new Followers();
  const [slow, quick] = [followers.join("run"), followers.join("run")];
  const first = quick.follower.frames();
  for (let sent = 0; sent < 5000; sent++) followers.send("run", of("x"));
  expect([(await first.next()).value, (await first.next()).value]).toEqual([of("x"), of("x")]);
  followers.send("run", of("last"));
  followers.send("run", END);
  const [dropped, rest] = [await received(slow.follower), await received(quick.follower)];
  expect([dropped.length, dropped.at(-1), rest.length, rest.at(-1)]).toEqual([5000, of("x"), 5000, END]);
});

test("a status stream ends with its signal, after delivering earlier updates", async () => {
  const watchers = new Watchers();
  const tick = (run_id: string): StatusTick => ({
    run_id,
    workflow_id: null,
    status: "running",
    final_status: null,
  });
  const leaving = new AbortController();
  const heard: string[] = [];
  const stream = watchers.ticks(leaving.signal);
  const first = stream.next();
  for (const id of ["a", "b"]) watchers.notify(tick(id));
  expect([await first, await stream.next()]).toEqual([
    { done: false, value: tick("a") },
    { done: false, value: tick("b") },
  ]);
  const next = stream.next();
  leaving.abort();
  expect(await next).toEqual({ done: true, value: undefined });

  const stop = watchers.watch(({ run_id }) => heard.push(run_id));
  const untilClosed = watchers.ticks();
  const [one, none] = [untilClosed.next(), untilClosed.next()];
  watchers.notify(tick("c"));
  stop();
  watchers.notify(tick("d"));
  watchers.close();
  expect([await one, await none, heard]).toEqual([
    { done: true, value: undefined },
    { done: true, value: undefined },
    ["c"],
  ]);
});
