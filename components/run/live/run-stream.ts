import type { LiveFrame } from "@/server/domain/base/durable";
import { must } from "@/server/domain/base/must";
import type { RunEvent } from "@/server/domain/run/events";
import type { RunViewStore } from "./run-view-store";

/** A message of the server about a run. */
export type RunNews =
  | { kind: "events"; events: RunEvent[] }
  | { kind: "live"; frames: LiveFrame[] }
  | { kind: "end" };

export interface NewsHandlers {
  onData(news: RunNews): void;
  onState(state: "connecting" | "open"): void;
  /** The source is closed for good. `isFinal`: retrying would fail the same way. */
  onClosed(why: { isFinal: boolean; message?: string }): void;
}

export type Subscribe = (after: number, handlers: NewsHandlers) => { unsubscribe(): void };

/** The browser page; tests provide their own. */
export interface Page {
  isHidden(): boolean;
  onVisibilityChange(listener: () => void): () => void;
  after(ms: number, work: () => void): () => void;
}

/** A hidden tab closes its connection after this long: browsers allow only six per server. */
const REST_AFTER_MS = 5_000;
const RETRY_MS = [500, 1_000, 2_000, 4_000, 8_000];

/** Feeds a store with the events of a run, and reconnects where it left off after gaps, errors and rests. */
export class RunFollower {
  private open: { unsubscribe(): void } | null = null;
  private cancelTimer: (() => void) | null = null;
  private failures = 0;
  private isOver = false;
  private readonly stopWatching: () => void;

  constructor(
    private readonly store: RunViewStore,
    private readonly subscribe: Subscribe,
    private readonly page: Page = browserPage,
  ) {
    this.stopWatching = page.onVisibilityChange(() => this.onVisibilityChange());
    this.connect("connecting");
  }

  /** Reads on after the end, when a run that had stopped continues. */
  resume() {
    this.isOver = false;
    this.connect("reconnecting");
  }

  stop() {
    this.stopWatching();
    this.disconnect();
  }

  private connect(state: "connecting" | "reconnecting") {
    this.disconnect();
    const { store } = this;
    store.setConnection(state);
    // Handlers of a closed subscription may still be called; they must not touch the next one.
    const mine: { unsubscribe(): void } = { unsubscribe: () => undefined };
    this.open = mine;
    const isMine = () => this.open === mine;
    const subscription = this.subscribe(store.received(), {
      onData: (news) => isMine() && this.onNews(news),
      onState: (next) => {
        if (!isMine()) return;
        const isAgain = this.failures > 0 || store.received() > 0;
        store.setConnection(next === "open" ? "live" : isAgain ? "reconnecting" : "connecting");
      },
      onClosed: (why) => isMine() && this.onClosed(why),
    });
    mine.unsubscribe = () => subscription.unsubscribe();
    if (!isMine()) subscription.unsubscribe();
  }

  private disconnect() {
    const closing = this.open;
    this.open = null;
    closing?.unsubscribe();
    this.clearTimer();
  }

  private clearTimer() {
    this.cancelTimer?.();
    this.cancelTimer = null;
  }

  private onNews(news: RunNews) {
    this.failures = 0;
    if (news.kind === "end") this.end("ended");
    else if (news.kind === "live") this.store.applyLive(news.frames);
    else if (this.store.apply(news.events)) this.store.setConnection("live");
    else this.connect("reconnecting");
  }

  private onClosed({ isFinal, message }: { isFinal: boolean; message?: string }) {
    if (isFinal) return this.end("failed", message);
    this.disconnect();
    this.store.setConnection("reconnecting");
    const delay = must(RETRY_MS, Math.min(this.failures++, RETRY_MS.length - 1));
    this.cancelTimer = this.page.after(delay, () => this.connect("reconnecting"));
  }

  private end(connection: "ended" | "failed", message?: string) {
    this.isOver = true;
    this.disconnect();
    this.store.setConnection(connection, message);
  }

  private onVisibilityChange() {
    if (this.isOver) return;
    this.clearTimer();
    if (this.page.isHidden())
      this.cancelTimer = this.page.after(REST_AFTER_MS, () => {
        this.disconnect();
        this.store.setConnection("resting");
      });
    else if (!this.open) this.connect("reconnecting");
  }
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
