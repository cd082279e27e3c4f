import { z } from "zod";
import { present } from "@/server/domain/base/must";
import { Page } from "@/server/operations/common-schemas";
import { agentShelf, crewShelf, type Shelf, shelfOperations } from "@/server/operations/library";
import { StoredAgent, StoredCrew } from "@/server/operations/library-schemas";
import type { Operation } from "@/server/operations/operation";
import { Problem } from "@/server/operations/problem";
import { type Call, type Endpoint, endpoint } from "./endpoint";
import { endpointsOf, performFor } from "./expose";
import { byName, expectedRevision, IF_MATCH, type Place, pageOf } from "./paging";

const placeOf = ({ name, id }: { name: string; id: string }): Place => [name.toLowerCase(), id];
const Name = z.string().trim().min(1).max(200);

/** List, add, read, replace and delete: the same five for crews and for agents. */
function shelfEndpoints<W extends "crew" | "agent", Thing extends object, Schema extends z.ZodType<Thing>>(
  shelf: Shelf<W, Thing, Schema>,
  { named_by, stored }: { named_by: string; stored: z.ZodType },
): Endpoint[] {
  const { word, idKey } = shelf;
  const operations = shelfOperations(shelf);
  const plural = `${word}s`;
  const Title = `${present(word[0], "word[0]").toUpperCase()}${word.slice(1)}`;
  const a = word === "agent" ? "an" : "a";
  const Sent = z.object({ name: Name.optional(), [word]: shelf.schema });
  /** A computed key is lost on the type checker. */
  const thingIn = (body: unknown) => (body as Record<W, Thing>)[word];
  const nameIn = (body: unknown) => (body as { name?: string }).name;
  const idIn = (params: unknown) => (params as { id: string }).id;
  const etag = (revision: number) => ({ etag: `"${revision}"` });
  type Asked = Pick<Call, "services" | "principal" | "note">;
  const found = (id: string, call: Asked) => performFor(operations.get, { id }, call);
  const checked = <In extends z.ZodType>(_operation: Operation<In>, input: unknown) => input as z.output<In>;

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
        const all = performFor(operations.list, undefined, call).map(
          ({ used_by: _elsewhere, ...thing }) => thing as unknown as { name: string; id: string },
        );
        const { items, next_cursor } = pageOf(all, query, placeOf, byName);
        return { body: { [plural]: items, next_cursor } };
      },
    }),

    endpoint({
      method: "POST",
      path: `/${plural}`,
      name: `create${Title}`,
      summary: `Adds ${a} ${word} to the library`,
      about: `\`${idKey}\` is what others will name it by; it must be free. \`name\` is what people see.`,
      tag: "Library",
      body: Sent,
      success: { status: 201, about: `The ${word}; \`ETag\` is its revision`, schema: stored },
      refusals: [409],
      answer(call) {
        const thing = thingIn(call.body);
        const name = nameIn(call.body) ?? String(thing[idKey]);
        const { id } = performFor(
          operations.restore,
          checked(operations.restore, { name, [word]: thing }),
          call,
        );
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
        const thing = found(idIn(call.params), call);
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
      body: Sent,
      reads: { "If-Match": IF_MATCH },
      success: { status: 200, about: `The ${word}; \`ETag\` is its revision`, schema: stored },
      refusals: [404, 412, 422],
      answer(call) {
        const { params, body, headers } = call;
        const before = found(idIn(params), call);
        const thing = thingIn(body);
        if (thing[idKey] !== before.id)
          throw new Problem(
            "id_fixed",
            `${Title} "${before.id}" keeps its id: \`${idKey}\` must be "${before.id}".`,
          );
        const input = checked(operations.save, {
          id: before.id,
          revision: expectedRevision(headers) ?? before.revision,
          name: nameIn(body) ?? before.name,
          [word]: thing,
        });
        const { revision } = performFor(operations.save, input, call);
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
        performFor(operations.remove, { id: idIn(call.params), ...call.query }, call);
        return { status: 204 };
      },
    }),

    ...endpointsOf(operations),
  ];
}

/** The library of crews and agents. */
export const libraryEndpoints: Endpoint[] = [
  ...shelfEndpoints(crewShelf, {
    named_by: "Workflows name them by `crew_id_or_config_ref`.",
    stored: StoredCrew,
  }),
  ...shelfEndpoints(agentShelf, {
    named_by: "Crews and agent tasks name them by `agent_ref`.",
    stored: StoredAgent,
  }),
];
