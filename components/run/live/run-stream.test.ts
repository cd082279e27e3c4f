import { expect, test } from "vitest";
import { approvalRun } from "../run-example";
import { type NewsHandlers, type Page, RunFollower } from "./run-stream";
import { RunViewStore } from "./run-view-store";

/** A server and a page played by the test. */
function stage() {
  const store = new RunViewStore((work) => work());
  const subscriptions: { after: number; handlers: NewsHandlers; isOpen: boolean }[] = [];
  let isHidden = false;
  let onVisibility = () => {};
  let timers: { ms: number; work: () => void }[] = [];
  const page: Page = {
    isHidden: () => isHidden,
    onVisibilityChange(listener) {
      onVisibility = listener;
      return () => undefined;
    },
    after(ms, work) {
      const timer = { ms, work };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
  };
  const following = new RunFollower(
    store,
    (after, handlers) => {
      const subscription = { after, handlers, isOpen: true };
      subscriptions.push(subscription);
      return {
        unsubscribe: () => {
          subscription.isOpen = false;
        },
      };
    },
    page,
  );
  return {
    store,
    following,
    last: () => subscriptions.at(-1)!,
    count: () => subscriptions.length,
    openCount: () => subscriptions.filter(({ isOpen }) => isOpen).length,
    connection: () => store.view.getState().connection,
    timers: () => timers.map(({ ms }) => ms),
    ring() {
      const [timer, ...rest] = timers;
      timers = rest;
      timer?.work();
    },
    hide(hidden: boolean) {
      isHidden = hidden;
      onVisibility();
    },
  };
}
const events = (from: number, to: number) => ({
  kind: "events" as const,
  events: approvalRun.slice(from, to) as never,
});

test("a stream follows a run to its end and then unsubscribes", () => {
  const s = stage();
  expect(s.connection()).toBe("connecting");
  s.last().handlers.onState("open");
  s.last().handlers.onData(events(0, 31));
  expect(s.connection()).toBe("live");
  s.last().handlers.onData({ kind: "end" });
  expect(s.connection()).toBe("ended");
  expect(s.openCount()).toBe(0);
});

test("a gap in the events triggers a resubscription from the last received event", () => {
  const s = stage();
  s.last().handlers.onData(events(0, 5));
  s.last().handlers.onData(events(9, 12));
  expect(s.count()).toBe(2);
  expect(s.last().after).toBe(5);
  expect(s.openCount()).toBe(1);
  s.last().handlers.onData(events(5, 31));
  expect(s.store.received()).toBe(31);
});

test("a broken connection is retried with backoff", () => {
  const s = stage();
  s.last().handlers.onData(events(0, 5));
  s.last().handlers.onClosed({ isFinal: false });
  expect(s.connection()).toBe("reconnecting");
  expect(s.timers()).toEqual([500]);
  s.ring();
  expect(s.last().after).toBe(5);
  s.last().handlers.onClosed({ isFinal: false });
  expect(s.timers()).toEqual([1000]);
  s.ring();
  s.last().handlers.onData(events(5, 8));
  expect(s.connection()).toBe("live");
});

test("a rejected subscription is not retried and reports the reason", () => {
  const s = stage();
  s.last().handlers.onClosed({ isFinal: true, message: "There is no such run." });
  expect(s.store.view.getState()).toMatchObject({
    connection: "failed",
    connectionError: "There is no such run.",
  });
  expect(s.timers()).toEqual([]);
});

test("a hidden tab disconnects after five seconds and resumes where it was", () => {
  const s = stage();
  s.last().handlers.onData(events(0, 5));
  s.hide(true);
  expect(s.timers()).toEqual([5000]);
  s.hide(false);
  expect(s.openCount()).toBe(1);
  expect(s.timers()).toEqual([]);
  s.hide(true);
  s.ring();
  expect(s.connection()).toBe("resting");
  expect(s.openCount()).toBe(0);
  s.hide(false);
  expect(s.last().after).toBe(5);
  expect(s.openCount()).toBe(1);
});

test("late messages of an old subscription are ignored", () => {
  const s = stage();
  const first = s.last();
  first.handlers.onData(events(0, 5));
  first.handlers.onClosed({ isFinal: false });
  s.ring();
  first.handlers.onClosed({ isFinal: true, message: "too late" });
  expect(s.connection()).not.toBe("failed");
});

test("a run that resumes after its end is followed again", () => {
  const s = stage();
  s.last().handlers.onData(events(0, 20));
  s.last().handlers.onData({ kind: "end" });
  s.following.resume();
  expect(s.last().after).toBe(20);
});
