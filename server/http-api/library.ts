import { z } from "zod";
import { crewWith } from "@/server/domain/library";
import { notFound } from "./api-error";
import { type Call, endpoint } from "./endpoint";
import { byName, type Place, pageOf } from "./paging";
import { Page, StoredAgent, StoredCrew } from "./schemas";

const placeOf = ({ name, id }: { name: string; id: string }): Place => [name.toLowerCase(), id];

/** Crews with the present settings of those members that are agents of the library. */
const crewsOf = ({ crews, library }: Call["services"]) =>
  crews.list().map((stored) => ({ ...stored, crew: crewWith(stored.crew, library) }));

/** The library of crews and agents, to read; it is written in the app. */
export const libraryEndpoints = [
  endpoint({
    method: "GET",
    path: "/crews",
    name: "listCrews",
    summary: "Lists the crews of the library by name",
    about: "Workflows name them by `crew_id_or_config_ref`.",
    tag: "Library",
    query: Page,
    success: {
      status: 200,
      about: "A page of crews",
      schema: z.object({ crews: z.array(StoredCrew), next_cursor: z.string().nullable() }),
    },
    answer({ services, query }) {
      const { items, next_cursor } = pageOf(crewsOf(services), query, placeOf, byName);
      return { body: { crews: items, next_cursor } };
    },
  }),

  endpoint({
    method: "GET",
    path: "/crews/{id}",
    name: "getCrew",
    summary: "One crew of the library",
    tag: "Library",
    success: { status: 200, about: "The crew; `ETag` is its revision", schema: StoredCrew },
    refusals: [404],
    answer({ services, params }) {
      const crew = crewsOf(services).find(({ id }) => id === params.id);
      if (!crew) throw notFound("crew");
      return { body: crew, headers: { etag: `"${crew.revision}"` } };
    },
  }),

  endpoint({
    method: "GET",
    path: "/agents",
    name: "listAgents",
    summary: "Lists the agents of the library by name",
    about: "Crews and agent tasks name them by `agent_ref`.",
    tag: "Library",
    query: Page,
    success: {
      status: 200,
      about: "A page of agents",
      schema: z.object({ agents: z.array(StoredAgent), next_cursor: z.string().nullable() }),
    },
    answer({ services, query }) {
      const { items, next_cursor } = pageOf(services.agents.list(), query, placeOf, byName);
      return { body: { agents: items, next_cursor } };
    },
  }),

  endpoint({
    method: "GET",
    path: "/agents/{id}",
    name: "getAgent",
    summary: "One agent of the library",
    tag: "Library",
    success: { status: 200, about: "The agent; `ETag` is its revision", schema: StoredAgent },
    refusals: [404],
    answer({ services, params }) {
      const agent = services.agents.find(params.id);
      if (!agent) throw notFound("agent");
      return { body: agent, headers: { etag: `"${agent.revision}"` } };
    },
  }),
];
