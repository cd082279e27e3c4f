import type { LiveFrame } from "@/server/domain/base/durable";
import { must } from "@/server/domain/base/must";
import type { RunEvent } from "@/server/domain/run/events";
import type { RunViewStore } from "./run-view-store";

/** What the server sends about one run. */
export type RunNews =
  | { kind: "events"; events: RunEvent[] }
  | { kind: "live"; frames: LiveFrame[] }
  | { kind: "end" };

export interface NewsHandlers {
  onData(news: RunNews): void;
  onState(state: "connecting" | "open"): void;
  /** The source is closed for good. `isFinal`: asking again would be answered in the same way. */
  onClosed(why: { isFinal: boolean; message?: string }): void;
}

export type Subscribe = (after: number, handlers: NewsHandlers) => { unsubscribe(): void };

/** What following needs of the page around it; tests bring their own. */
export interface Page {
  isHidden(): boolean;
  onVisibilityChange(listener: () => void): () => void;
  after(ms: number, work: () => void): () => void;
}

export interface Following {
  /** Reads on after the end, where a run that stopped at a limit was let go on. */
  resume(): void;
  stop(): void;
}

/** A hidden tab gives its connection back after this long: a browser has only six for one server. */
const REST_AFTER_MS = 5_000;
const RETRY_MS = [500, 1_000, 2_000, 4_000, 8_000];

/** Feeds a store with the news of a run: resumes after gaps, breaks and rests where it left off. */
export function followRun(store: RunViewStore, subscribe: Subscribe, page: Page = browserPage): Following {
  let open: { unsubscribe(): void } | null = null;
  let cancelTimer: (() => void) | null = null;
  let failures = 0;
  let isOver = false;

  function clearTimer() {
    cancelTimer?.();
    cancelTimer = null;
  }

  function close() {
    const closing = open;
    open = null;
    closing?.unsubscribe();
  }

  function connect(word: "connecting" | "reconnecting") {
    close();
    clearTimer();
    store.setConnection(word);
    // Handlers of a closed subscription may still be called; they must not touch the next one.
    const mine: { unsubscribe(): void } = { unsubscribe: () => undefined };
    open = mine;
    const isMine = () => open === mine;
    const subscription = subscribe(store.received(), {
      onData: (news) => isMine() && take(news),
      onState: (state) => {
        if (isMine())
          store.setConnection(
            state === "open" ? "live" : failures > 0 || store.received() > 0 ? "reconnecting" : "connecting",
          );
      },
      onClosed: (why) => isMine() && lost(why),
    });
    mine.unsubscribe = () => subscription.unsubscribe();
    if (!isMine()) subscription.unsubscribe();
  }

  function take(news: RunNews) {
    failures = 0;
    if (news.kind === "end") {
      isOver = true;
      close();
      clearTimer();
      store.setConnection("ended");
      return;
    }
    if (news.kind === "live") store.applyLive(news.frames);
    else if (!store.apply(news.events)) connect("reconnecting");
    else store.setConnection("live");
  }

  function lost({ isFinal, message }: { isFinal: boolean; message?: string }) {
    close();
    clearTimer();
    if (isFinal) {
      isOver = true;
      store.setConnection("failed", message);
      return;
    }
    store.setConnection("reconnecting");
    const delay = must(RETRY_MS, Math.min(failures++, RETRY_MS.length - 1));
    cancelTimer = page.after(delay, () => connect("reconnecting"));
  }

  function onVisibilityChange() {
    if (isOver) return;
    if (!page.isHidden()) {
      clearTimer();
      if (!open) connect("reconnecting");
      return;
    }
    clearTimer();
    cancelTimer = page.after(REST_AFTER_MS, () => {
      close();
      store.setConnection("resting");
    });
  }

  const stopWatching = page.onVisibilityChange(onVisibilityChange);
  connect("connecting");
  return {
    resume() {
      isOver = false;
      connect("reconnecting");
    },
    stop() {
      stopWatching();
      clearTimer();
      close();
    },
  };
}

const browserPage: Page = {
  isHidden: () => document.hidden,
  onVisibilityChange(listener) {
    document.addEventListener("visibilitychange", listener);
    return () => document.removeEventListener("visibilitychange", listener);
  },
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};
