import { createStore, type StoreApi } from "zustand/vanilla";

export interface Announcement {
  text: string;
  nonce: number;
}

/** Announcements for screen readers; a repeated text is announced again. */
export type Announcer = StoreApi<Announcement> & { announce(text: string): void };

export function newAnnouncer(): Announcer {
  const store = createStore<Announcement>()(() => ({ text: "", nonce: 0 }));
  return Object.assign(store, {
    announce: (text: string) => store.setState(({ nonce }) => ({ text, nonce: nonce + 1 })),
  });
}
