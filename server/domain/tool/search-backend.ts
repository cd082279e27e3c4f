import { z } from "zod";

/** What is searched. */
export const SearchPurpose = z.enum(["web", "code"]);
export type SearchPurpose = z.infer<typeof SearchPurpose>;

/** Services that answer searches. demo: a few bundled texts, for trying things out offline; its results are made up. */
export const SearchKind = z.enum(["searxng", "brave", "github", "demo"]);
export type SearchKind = z.infer<typeof SearchKind>;

export interface SearchBackend {
  kind: SearchKind;
  /** Without a slash at the end; "" for the demo. */
  base_url: string;
  key: string | null;
}

/** A service's default address; SearXNG is always self-hosted. */
export const SEARCH_SERVICES: Readonly<
  Record<Exclude<SearchKind, "demo">, { purpose: SearchPurpose; base_url: string; needs_key: boolean }>
> = {
  searxng: { purpose: "web", base_url: "", needs_key: false },
  brave: { purpose: "web", base_url: "https://api.search.brave.com", needs_key: true },
  github: { purpose: "code", base_url: "https://api.github.com", needs_key: true },
};
