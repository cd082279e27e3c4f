import { createStore, type StoreApi } from "zustand/vanilla";

export interface Announcement {
  text: string;
  nonce: number;
}

/** What a screen reader is told about what just happened; the same words twice are said twice. */
export type Announcer = StoreApi<Announcement> & { announce(text: string): void };

export function newAnnouncer(): Announcer {
  const store = createStore<Announcement>()(() => ({ text: "", nonce: 0 }));
  return Object.assign(store, {
    announce: (text: string) => store.setState(({ nonce }) => ({ text, nonce: nonce + 1 })),
  });
}
