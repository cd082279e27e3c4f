import { expect, test } from "vitest";
import type { Json } from "@/server/domain/base/values";
import { WorkTime } from "@/server/runner/clock";
import { type Entry, NoEntry, Session } from "./session";
import { Sessions } from "./sessions";
import { stretchStart } from "./testing/server";

const { created } = stretchStart("r");
const first = { turn: 0, key: null, result: null, at: created.ts, lastSeq: 1, inlined: 0, events: [created] };

/** A session of a run with one step, which ends when it is told to. */
function newSession() {
  const told = { begun: 0, aborted: 0, end: (_value: Json) => {} };
  const session = new Session({
    runId: "r",
    workerId: "w",
    program: async (ctx) => {
      const step = ctx.step("long", ({ abort }) => {
        told.begun++;
        abort.addEventListener("abort", () => told.aborted++);
        return new Promise((resolve) => (told.end = resolve));
      });
      await ctx.next([step]);
    },
    journal: { turns: [first], timers: new Map(), signals: new Map() },
    entries: 0,
    signals: { atStart: 0, since: 0 },
    rules: null,
    time: new WorkTime(),
    live: () => {},
    fits: () => true,
  });
  return { told, session };
}
const newSessions = (lingerMs: number) => new Sessions(lingerMs, { post: async () => {}, failed: () => {} });

test("a stretch whose attempt was lost goes on, takes no place meanwhile, and is what the next attempt finds", async () => {
  const sessions = newSessions(10_000);
  const { told, session } = newSession();
  const [one, two] = [new AbortController(), new AbortController()];
  expect(await sessions.open({ key: "r.1", entries: [], signal: one.signal }, async () => session)).toBe(
    session,
  );
  const begun = await session.next();
  session.keep(1, begun);
  await expect.poll(() => told.begun).toBe(1);
  expect([sessions.size, sessions.steps]).toEqual([1, 1]);

  const waiting = session.next();
  one.abort();
  await expect(waiting).rejects.toThrow(NoEntry);
  expect([sessions.size, sessions.steps, told.aborted]).toEqual([0, 1, 0]);
  told.end("done");

  const again = await sessions.open({ key: "r.1", entries: [begun], signal: two.signal }, async () => null);
  expect([again, sessions.size]).toEqual([session, 1]);
  expect(await session.next()).toMatchObject({
    session: session.id,
    turns: [{ turn: 2, key: "long", result: { ok: true, value: "done" } }],
  });
  sessions.close();
});

test("whoever asks again for an entry that was not kept gets the same turns", async () => {
  const sessions = newSessions(10_000);
  const { session } = newSession();
  await sessions.open({ key: "r.1", entries: [], signal: new AbortController().signal }, async () => session);
  const lost = await session.next();
  expect(await session.next()).toEqual(lost);
  sessions.close();
  await expect(session.next()).rejects.toThrow(NoEntry);
});

test("a stretch that another worker went on with meanwhile is begun anew, and what was under way is aborted", async () => {
  const sessions = newSessions(10_000);
  const [mine, next] = [newSession(), newSession()];
  const [one, two] = [new AbortController(), new AbortController()];
  await sessions.open({ key: "r.1", entries: [], signal: one.signal }, async () => mine.session);
  mine.session.keep(1, await mine.session.next());
  await expect.poll(() => mine.told.begun).toBe(1);
  one.abort();
  const elsewhere: Entry = { session: "other", worker: "w2", turns: [], chars: 0 };
  const opened = await sessions.open(
    { key: "r.1", entries: [elsewhere], signal: two.signal },
    async () => next.session,
  );
  expect([opened, mine.told.aborted]).toEqual([next.session, 1]);
  sessions.close();
});

test("a stretch to which no attempt comes back in time is dropped", async () => {
  const sessions = newSessions(20);
  const { told, session } = newSession();
  const attempt = new AbortController();
  await sessions.open({ key: "r.1", entries: [], signal: attempt.signal }, async () => session);
  session.keep(1, await session.next());
  await expect.poll(() => told.begun).toBe(1);
  attempt.abort();
  await expect.poll(() => told.aborted).toBe(1);
  expect(sessions.has("r.1")).toBe(false);
  sessions.close();
});
