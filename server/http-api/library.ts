import { z } from "zod";
import { AgentConfig } from "@/server/domain/agent/role";
import { CrewConfig } from "@/server/domain/crew/crew";
import { crewWith } from "@/server/domain/library/library";
import { countUses, type Use, type Users, usesOfAgents, usesOfCrews } from "@/server/domain/library/uses";
import { notFound, Problem } from "@/server/operations/problem";
import { Page, StoredAgent, StoredCrew } from "@/server/operations/schemas";
import type { Services } from "@/server/operations/services";
import type { LibraryStore, Stored } from "@/server/store/library";
import { usersOf } from "@/server/store/users";
import { type Endpoint, endpoint } from "./endpoint";
import { byName, expectedRevision, IF_MATCH, type Place, pageOf } from "./paging";

/** One kind of thing in the library, as the endpoints need to know it. */
interface Shelf<Word extends "crew" | "agent", Thing extends object> {
  word: Word;
  plural: `${Word}s`;
  named_by: string;
  /** What is sent; the id may be left out: it is made from the name. */
  schema: z.ZodType<Thing>;
  idKey: keyof Thing & string;
  stored: z.ZodType;
  storeOf(services: Services): LibraryStore<Word, Thing>;
  /** As it is answered: with what it takes from elsewhere in the library. */
  whole?(thing: Thing, services: Services): Thing;
  usesOf(users: Users): Map<string, Use[]>;
}

const placeOf = ({ name, id }: { name: string; id: string }): Place => [name.toLowerCase(), id];
/** An agent of the library is no member of anything. */
const LibraryAgent = AgentConfig.omit({ agent_ref: true });
const Name = z.string().trim().min(1).max(200);

/** List, add, read, replace and delete: the same five for crews and for agents. */
function shelfEndpoints<Word extends "crew" | "agent", Thing extends object>(
  shelf: Shelf<Word, Thing>,
): Endpoint[] {
  const { word, plural, idKey } = shelf;
  const Title = `${word[0]!.toUpperCase()}${word.slice(1)}`;
  const a = word === "agent" ? "an" : "a";
  const Sent = z.object({ name: Name.optional(), [word]: shelf.schema });
  /** A computed key is lost on the type checker. */
  const thingIn = (body: unknown) => (body as Record<Word, Thing>)[word];
  const nameIn = (body: unknown) => (body as { name?: string }).name;
  const idIn = (params: unknown) => (params as { id: string }).id;

  const answered = (stored: Stored<Word, Thing>, services: Services) =>
    shelf.whole ? { ...stored, [word]: shelf.whole(stored[word], services) } : stored;
  const found = (services: Services, id: string): Stored<Word, Thing> => {
    const stored = shelf.storeOf(services).find(id);
    if (!stored) throw notFound(word);
    return stored;
  };
  const etag = (revision: number) => ({ etag: `"${revision}"` });

  return [
    endpoint({
      method: "GET",
      path: `/${plural}`,
      name: `list${Title}s`,
      summary: `Lists the ${plural} of the library by name`,
      about: shelf.named_by,
      tag: "Library",
      query: Page,
      success: {
        status: 200,
        about: `A page of ${plural}`,
        schema: z.object({ [plural]: z.array(shelf.stored), next_cursor: z.string().nullable() }),
      },
      answer({ services, query }) {
        const all = shelf
          .storeOf(services)
          .list()
          .map((stored) => answered(stored, services));
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
      success: { status: 201, about: `The ${word}; \`ETag\` is its revision`, schema: shelf.stored },
      refusals: [409],
      answer({ services, body }) {
        const thing = thingIn(body);
        const id = String(thing[idKey]);
        if (!shelf.storeOf(services).create(nameIn(body) ?? id, thing))
          throw new Problem("id_taken", `There is ${a} ${word} "${id}" already.`);
        const made = found(services, id);
        const location = `/api/v1/${plural}/${encodeURIComponent(id)}`;
        return {
          status: 201,
          body: answered(made, services),
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
      success: { status: 200, about: `The ${word}; \`ETag\` is its revision`, schema: shelf.stored },
      refusals: [404],
      answer({ services, params }) {
        const stored = found(services, idIn(params));
        return { body: answered(stored, services), headers: etag(stored.revision) };
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
      success: { status: 200, about: `The ${word}; \`ETag\` is its revision`, schema: shelf.stored },
      refusals: [404, 412, 422],
      answer({ services, params, body, headers }) {
        const before = found(services, idIn(params));
        const thing = thingIn(body);
        if (thing[idKey] !== before.id)
          throw new Problem(
            "id_fixed",
            `${Title} "${before.id}" keeps its id: \`${idKey}\` must be "${before.id}".`,
          );
        const result = shelf.storeOf(services).save({
          id: before.id,
          revision: expectedRevision(headers) ?? before.revision,
          name: nameIn(body) ?? before.name,
          [word]: thing,
        } as { id: string; revision: number; name: string } & Record<Word, Thing>);
        if (!result.saved && !result.current) throw notFound(word);
        if (!result.saved)
          throw new Problem("changed_meanwhile", `The ${word} was changed in between.`, {
            revision: result.current?.revision,
          });
        return { body: answered(found(services, before.id), services), headers: etag(result.revision) };
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
      answer({ services, params, query }) {
        const { id } = found(services, idIn(params));
        const used_by = query.force ? [] : (shelf.usesOf(usersOf(services)).get(id) ?? []);
        if (used_by.length > 0)
          throw new Problem(`${word}_in_use`, `This ${word} is used by ${countUses(used_by)}.`, {
            used_by,
          });
        shelf.storeOf(services).remove(id);
        return { status: 204 };
      },
    }),
  ];
}

/** The library of crews and agents. */
export const libraryEndpoints: Endpoint[] = [
  ...shelfEndpoints({
    word: "crew",
    plural: "crews",
    named_by: "Workflows name them by `crew_id_or_config_ref`.",
    schema: CrewConfig,
    idKey: "crew_id",
    stored: StoredCrew,
    storeOf: ({ crews }) => crews,
    // With the present settings of those members that are agents of the library.
    whole: (crew, { library }) => crewWith(crew, library),
    usesOf: usesOfCrews,
  }),
  ...shelfEndpoints({
    word: "agent",
    plural: "agents",
    named_by: "Crews and agent tasks name them by `agent_ref`.",
    schema: LibraryAgent,
    idKey: "agent_id",
    stored: StoredAgent,
    storeOf: ({ agents }) => agents,
    usesOf: usesOfAgents,
  }),
];
