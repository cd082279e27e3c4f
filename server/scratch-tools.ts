import { openDb } from "@/db/open";
import type { JsonObject } from "@/server/domain/base/values";
import type { SearchBackend } from "@/server/domain/tool/search-backend";
import { EgressError } from "@/server/egress/fetch";
import { OF_THE_RUN } from "@/server/runner/replay/requests";
import type { TestParts } from "@/server/runner/scenario/answering";
import { MemoryStore } from "@/server/store/library/memories/memories";
import { keepResult } from "@/server/store/runs/tool-results";
import { WorkspaceStore } from "@/server/store/runs/workspace";
import { builtinTools } from "@/server/tools/builtin";
import { newToolHost, type ToolHost } from "@/server/tools/host";
import { ToolsRegistry } from "@/server/tools/registry";
import { matchesSafely } from "@/server/tools/sandbox/matches";

/** Tools that answer from bundled texts here. */
const MADE_UP: ReadonlySet<string> = new Set(["web_search", "code_search", "browse_url"]);
const DEMO_SEARCH: SearchBackend = { kind: "demo", base_url: "", key: null };

/**
 * Tools for one test: files and memories live in memory as long as it does, searches are made up, nothing outside is reached.
 * `now`: the time of the test, Unix milliseconds.
 */
export function newScratchTools(now: () => number): ReturnType<TestParts["scratchTools"]> {
  let opened: ToolHost | null = null;
  const host = () => (opened ??= openHost(now));
  const ids = new StableIds();
  return {
    has: (name) => OF_THE_RUN.has(name) || MADE_UP.has(name),
    host: {
      specs: () => Promise.resolve([]),
      matches: matchesSafely,
      runCode: () => Promise.resolve(null),
      async invoke(name, args, scope) {
        const output = await host().invoke(name, ids.own(args), scope);
        return ids.stable(output);
      },
      forgetTask: async (caller) => opened?.forgetTask(caller),
    },
  };
}

function openHost(now: () => number): ToolHost {
  const db = openDb(":memory:");
  const workspace = new WorkspaceStore(db, now);
  const memories = new MemoryStore(db, now);
  const registry = new ToolsRegistry();
  const nothing = () => Promise.reject(new EgressError("ADDRESS_REFUSED", "Tests reach nothing outside."));
  registry.replace(
    [],
    builtinTools({
      workspace,
      memories,
      web: { fetch: nothing },
      search: { backendFor: () => DEMO_SEARCH, fetch: nothing },
      now,
    }),
  );
  return newToolHost({
    registry,
    keep: keepResult(workspace),
    forget: (place) => memories.forget(place),
    matches: matchesSafely,
    runCode: () => Promise.resolve(null),
  });
}

/** File ids are random; a test sees the same ones each time. */
class StableIds {
  private readonly stableBy = new Map<string, string>();
  private readonly ownBy = new Map<string, string>();

  stable<T>(value: T): T {
    return this.replaced(value, /\bart_[0-9a-z]{20}\b/g, (id) => {
      const known = this.stableBy.get(id);
      if (known !== undefined) return known;
      const stable = `art_${String(this.stableBy.size + 1).padStart(20, "0")}`;
      this.stableBy.set(id, stable);
      this.ownBy.set(stable, id);
      return stable;
    });
  }

  own(args: JsonObject): JsonObject {
    return this.replaced(args, /\bart_0\d{19}\b/g, (id) => this.ownBy.get(id) ?? id);
  }

  private replaced<T>(value: T, pattern: RegExp, by: (id: string) => string): T {
    // Only ids inside texts are replaced, so the result has the type of the input.
    return JSON.parse(JSON.stringify(value).replace(pattern, by)) as T;
  }
}
