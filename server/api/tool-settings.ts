import { z } from "zod";
import { keyFate } from "@/server/domain/run/audit";
import { SEARCH_SERVICES, SearchPurpose } from "@/server/domain/tool/search-backend";
import type { Container } from "@/server/services";
import type { ToolSettingStore } from "@/server/store/tool-settings";
import { BaseUrl, hostOf, Key } from "./providers";
import { procedure, refusal, router } from "./trpc";

const SaveInput = z
  .object({
    purpose: SearchPurpose,
    kind: z.enum(["searxng", "brave", "github"]),
    /** Empty: where the service usually is. */
    base_url: z.literal("").or(BaseUrl),
    /** Left out: keeps the stored key, unless the service or its address changes. Null: removes it. */
    key: Key.nullish(),
  })
  .refine(
    ({ purpose, kind }) => SEARCH_SERVICES[kind].purpose === purpose,
    "This service does not search that",
  )
  .refine(
    ({ kind, base_url }) => base_url !== "" || SEARCH_SERVICES[kind].base_url !== "",
    "Enter the address of your SearXNG server",
  );

/** What tools search with. Keys go in and never come out. */
export const newToolSettingsRouter = (storeOf: (troupe: Container) => ToolSettingStore) =>
  router({
    list: procedure.query(({ ctx }) => ({ searches: storeOf(ctx.troupe).list() })),

    save: procedure.input(SaveInput).mutation(({ ctx, input }) => {
      const store = storeOf(ctx.troupe);
      const now = () => store.list().find(({ purpose }) => purpose === input.purpose);
      const before = now();
      store.save(input);
      const saved = now();
      ctx.note("search_service_changed", {
        search: input.purpose,
        service: input.kind,
        host: hostOf(saved?.base_url ?? ""),
        key: keyFate(input.key, before?.has_key ?? false, saved?.has_key ?? false),
      });
      return { saved, needs_key: SEARCH_SERVICES[input.kind].needs_key && !saved?.has_key };
    }),

    remove: procedure.input(z.object({ purpose: SearchPurpose })).mutation(({ ctx, input }) => {
      if (!storeOf(ctx.troupe).remove(input.purpose))
        throw refusal("NOT_FOUND", "Nothing is configured for this search any more.");
      ctx.note("search_service_removed", { search: input.purpose });
      return { purpose: input.purpose };
    }),
  });
