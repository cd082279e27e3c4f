import { lastOf } from "@/server/domain/base/must";
import type { RunStore } from "@/server/store/runs/runs";
import type { LiveRuns } from "../lifecycle/live-runs";
import { shownOf } from "../lifecycle/redact-events";
import type { Followers, RunFrame } from "./followers";
import type { Frames } from "./frames";

const BACKLOG_CHUNK = 500;

interface Parts {
  store: Pick<RunStore, "events" | "find" | "creation">;
  followers: Followers;
  frames: Pick<Frames, "snapshot">;
  live: Pick<LiveRuns, "has">;
}

/**
 * Follows a run: first what the log holds after `after`, then what happens. It listens from the moment of the
 * call, so that nothing between the two is lost. Ends after the last event of a finished run.
 */
export function followRun(
  parts: Parts,
  runId: string,
  after: number,
  signal?: AbortSignal,
): AsyncGenerator<RunFrame> {
  const { follower, leave } = parts.followers.join(runId);
  signal?.addEventListener("abort", leave, { once: true });
  const release = () => {
    signal?.removeEventListener("abort", leave);
    leave();
  };
  return read(parts, runId, after, { follower, leave: release });
}

async function* read(
  { store, frames, live }: Parts,
  runId: string,
  after: number,
  { follower, leave }: ReturnType<Followers["join"]>,
): AsyncGenerator<RunFrame> {
  try {
    let last = after;
    const shown = shownOf(store, runId);
    for (;;) {
      const isHeld = store.find(runId)?.status === "held";
      const events = store.events(runId, last, BACKLOG_CHUNK, isHeld);
      if (events.length === 0) break;
      last = lastOf(events).seq;
      yield { kind: "events", events: shown(events) };
    }
    const overlay = frames.snapshot(runId);
    if (overlay.length > 0) yield { kind: "live", frames: overlay };
    const run = store.find(runId);
    if (!run || (run.status === "finished" && !live.has(runId))) {
      yield { kind: "end" };
      return;
    }
    for await (const frame of follower.frames()) {
      if (frame.kind !== "events") {
        yield frame;
        continue;
      }
      const events = frame.events.filter(({ seq }) => seq > last);
      if (events.length === 0) continue;
      last = lastOf(events).seq;
      yield { kind: "events", events: shown(events) };
    }
  } finally {
    leave();
  }
}
