/** Lets a number of calls through at once, the others wait in the order they came. */
export interface Gate {
  /** Resolves with a function that frees the place. Rejects with the signal's reason. */
  enter(signal: AbortSignal): Promise<() => void>;
  /** Lets nobody in until then; `untilMs` is Unix time. */
  coolDown(untilMs: number): void;
  setLimit(limit: number): void;
  readonly waiting: number;
}

interface Waiter {
  admit(): void;
}

export function newGate(limit: number, now: () => number = Date.now): Gate {
  let most = limit;
  let inside = 0;
  let closedUntil = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const queue: Waiter[] = [];

  const advance = () => {
    clearTimeout(timer);
    timer = undefined;
    const rest = closedUntil - now();
    if (rest > 0) {
      if (queue.length > 0) timer = setTimeout(advance, rest);
      return;
    }
    while (queue.length > 0 && inside < most) {
      inside++;
      queue.shift()!.admit();
    }
  };
  const leaveOnce = () => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      inside--;
      advance();
    };
  };

  return {
    enter(signal) {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason as Error);
        const stop = () => {
          queue.splice(queue.indexOf(waiter), 1);
          reject(signal.reason as Error);
        };
        const waiter: Waiter = {
          admit() {
            signal.removeEventListener("abort", stop);
            resolve(leaveOnce());
          },
        };
        signal.addEventListener("abort", stop, { once: true });
        queue.push(waiter);
        advance();
      });
    },
    coolDown(untilMs) {
      closedUntil = Math.max(closedUntil, untilMs);
    },
    setLimit(next) {
      most = next;
      advance();
    },
    get waiting() {
      return queue.length;
    },
  };
}
