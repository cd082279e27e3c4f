import { z } from "zod";
import { present } from "@/server/domain/base/must";
import { plainName } from "@/server/domain/base/names";
import { CrewConfig } from "@/server/domain/crew/crew";
import { Page } from "@/server/operations/common-schemas";
import {
  agentShelf,
  crewShelf,
  LibraryAgent,
  type Shelf,
  shelfOperations,
} from "@/server/operations/library";
import { StoredAgent, StoredCrew } from "@/server/operations/library-schemas";
import { Problem } from "@/server/operations/problem";
import { type Endpoint, type EndpointCall, endpoint } from "./endpoint";
import { endpointsOf, performFor } from "./expose";
import { byName, expectedRevision, IF_MATCH, type Place, pageOf } from "./paging";

const placeOf = ({ name, id }: { name: string; id: string }): Place => [name.toLowerCase(), id];
const Name = z.string().overwrite(plainName).trim().min(1).max(200);

/** A thing under its own word; without a name it is called as its id. */
type Sent<W extends "crew" | "agent", Thing> = { name?: string | undefined } & Record<W, Thing>;

/** List, add, read, replace and delete: the same five for crews and for agents. */
function shelfEndpoints<W extends "crew" | "agent", Thing extends object>(
  shelf: Shelf<W, Thing>,
  { named_by, stored, body }: { named_by: string; stored: z.ZodType; body: z.ZodType<Sent<W, Thing>> },
): Endpoint[] {
  const { word, idKey } = shelf;
  const operations = shelfOperations(shelf);
  const plural = `${word}s`;
  const Title = `${present(word[0], "word[0]").toUpperCase()}${word.slice(1)}`;
  const a = word === "agent" ? "an" : "a";
  const etag = (revision: number) => ({ etag: `"${revision}"` });
  type Asked = Pick<EndpointCall, "services" | "principal" | "note">;
  const found = (id: string, call: Asked) => performFor(operations.get, { id }, call);
  return [
    endpoint({
      method: "GET",
      path: `/${plural}`,
      name: `list${Title}s`,
      summary: `Lists the ${plural} of the library by name`,
      about: named_by,
      tag: "Library",
      query: Page,
      success: {
        status: 200,
        about: `A page of ${plural}`,
        schema: z.object({ [plural]: z.array(stored), next_cursor: z.string().nullable() }),
      },
      answer(call) {
        const { query } = call;
        const all = performFor(operations.list, undefined, call);
        const { items, next_cursor } = pageOf(all, query, placeOf, byName);
        return { body: { [plural]: items.map(({ used_by: _usedBy, ...thing }) => thing), next_cursor } };
      },
    }),

    endpoint({
      method: "POST",
      path: `/${plural}`,
      name: `create${Title}`,
      summary: `Adds ${a} ${word} to the library`,
      about: `\`${idKey}\` is what others will name it by; it must be free. \`name\` is what people see.`,
      tag: "Library",
      body,
      success: { status: 201, about: `The ${word}; \`ETag\` is its revision`, schema: stored },
      refusals: [409],
      answer(call) {
        const { [word]: thing, name = String(thing[idKey]) } = call.body;
        const { id } = performFor(operations.restore, { name, ...shelf.under(thing) }, call);
        const made = found(id, call);
        const location = `/api/v1/${plural}/${encodeURIComponent(id)}`;
        return {
          status: 201,
          body: made,
          headers: { location, ...etag(made.revision) },
        };
      },
    }),

    endpoint({
      method: "GET",
      path: `/${plural}/{id}`,
      name: `get${Title}`,
      summary: `One ${word} of the library`,
      tag: "Library",
      success: { status: 200, about: `The ${word}; \`ETag\` is its revision`, schema: stored },
      refusals: [404],
      answer(call) {
        const thing = found(call.params.id, call);
        return { body: thing, headers: etag(thing.revision) };
      },
    }),

    endpoint({
      method: "PUT",
      path: `/${plural}/{id}`,
      name: `replace${Title}`,
      summary: `Replaces ${a} ${word} of the library`,
      about: `It keeps its id. Runs under way keep the copy that they began with.`,
      tag: "Library",
      body,
      reads: { "If-Match": IF_MATCH },
      success: { status: 200, about: `The ${word}; \`ETag\` is its revision`, schema: stored },
      refusals: [404, 412, 422],
      answer(call) {
        const { params, headers } = call;
        const before = found(params.id, call);
        const { [word]: thing, name = before.name } = call.body;
        if (thing[idKey] !== before.id)
          throw new Problem(
            "id_fixed",
            `${Title} "${before.id}" keeps its id: \`${idKey}\` must be "${before.id}".`,
          );
        const seen = expectedRevision(headers) ?? before.revision;
        const change = { id: before.id, revision: seen, name, ...shelf.under(thing) };
        const { revision } = performFor(operations.save, change, call);
        return { body: found(before.id, call), headers: etag(revision) };
      },
    }),

    endpoint({
      method: "DELETE",
      path: `/${plural}/{id}`,
      name: `delete${Title}`,
      summary: `Deletes ${a} ${word} from the library`,
      about: `One that is named elsewhere is deleted only with \`force=true\`.`,
      tag: "Library",
      query: z.object({ force: z.stringbool().default(false) }),
      success: { status: 204, about: "It is gone" },
      refusals: [404, 409],
      answer(call) {
        performFor(operations.remove, { id: call.params.id, ...call.query }, call);
        return { status: 204 };
      },
    }),

    ...endpointsOf(operations),
  ];
}

/** The library of crews and agents. */
export const libraryEndpoints: Endpoint[] = [
  ...shelfEndpoints<"crew", CrewConfig>(crewShelf, {
    named_by: "Workflows name them by `crew_id_or_config_ref`.",
    stored: StoredCrew,
    body: z.object({ name: Name.optional(), crew: CrewConfig }),
  }),
  ...shelfEndpoints<"agent", z.output<typeof LibraryAgent>>(agentShelf, {
    named_by: "Crews and agent tasks name them by `agent_ref`.",
    stored: StoredAgent,
    body: z.object({ name: Name.optional(), agent: LibraryAgent }),
  }),
];
