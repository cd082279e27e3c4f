import { z } from "zod";
import { Rejection } from "@/server/domain/errors/rejection";
import { keyFate } from "@/server/domain/run/audit";
import { SEARCH_SERVICES, SearchPurpose } from "@/server/domain/tool/search-backend";
import { normalUrl } from "@/server/store/providers";
import { BaseUrl, hostOf, Key } from "../addresses";
import { onlyPerson, operationsOf } from "../operation";
import { SearchService } from "./library-schemas";

const { mutation, query } = operationsOf("Tools");

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
    "This service doesn't offer that kind of search",
  )
  .refine(
    ({ kind, base_url }) => base_url !== "" || SEARCH_SERVICES[kind].base_url !== "",
    "Enter the URL of your SearXNG server",
  );

/** What tools search with. Keys go in and never come out. */
export const toolSettingOperations = {
  list: query({
    name: "listSearchServices",
    summary: "List search services",
    needs: "read",
    input: z.void(),
    output: z.object({ searches: z.array(SearchService) }),
    http: { route: "GET /search-services", success: "One service per kind of search" },
    run: ({ toolSettings }) => ({ searches: toolSettings.list() }),
  }),

  save: mutation({
    name: "replaceSearchKey",
    summary: "Replace a search service's key",
    about:
      "Programs can replace or remove the key of a service that a person set up. Only people can choose the service and its URL, which determine where agents' queries go.",
    needs: "admin",
    input: SaveInput,
    output: z.object({
      saved: SearchService.optional(),
      needs_key: z.boolean().meta({ description: "Whether a required key is missing" }),
    }),
    problems: ["person_only"],
    audits: ["search_service_changed"],
    http: { route: "PUT /search-services", success: "The current service" },
    run({ toolSettings }, input, { note, principal }) {
      const now = () => toolSettings.list().find(({ purpose }) => purpose === input.purpose);
      const before = now();
      const base_url = normalUrl(input.base_url || SEARCH_SERVICES[input.kind].base_url);
      if (before?.kind !== input.kind || normalUrl(before.base_url) !== base_url)
        onlyPerson(principal, "the service and its URL determine where agents' queries go");
      toolSettings.save(input);
      const saved = now();
      note("search_service_changed", {
        search: input.purpose,
        service: input.kind,
        host: hostOf(saved?.base_url ?? ""),
        key: keyFate(input.key, before?.has_key ?? false, saved?.has_key ?? false),
      });
      return { saved, needs_key: SEARCH_SERVICES[input.kind].needs_key && !saved?.has_key };
    },
  }),

  remove: mutation({
    name: "deleteSearchService",
    summary: "Remove a search service and its key",
    needs: "admin",
    input: z.object({ purpose: SearchPurpose }),
    audits: ["search_service_removed"],
    http: { route: "DELETE /search-services/{purpose}", success: "Deleted" },
    run({ toolSettings }, { purpose }, { note }) {
      if (!toolSettings.remove(purpose))
        throw new Rejection("not_found", "No service is configured for this search.");
      note("search_service_removed", { search: purpose });
      return { purpose };
    },
  }),
};
