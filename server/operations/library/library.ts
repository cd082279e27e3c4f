import { z } from "zod";
import { AgentConfig } from "@/server/domain/agent/role";
import { freshId, toId } from "@/server/domain/base/ids";
import { present } from "@/server/domain/base/must";
import { plainName } from "@/server/domain/base/names";
import { CrewConfig } from "@/server/domain/crew/crew";
import { Rejection } from "@/server/domain/errors/rejection";
import { agentsOfCrew } from "@/server/domain/library/agent-use";
import { crewWith } from "@/server/domain/library/library";
import { rolesOfCrew } from "@/server/domain/library/role-use";
import { countUses, type Use, type Users, usesOfAgents, usesOfCrews } from "@/server/domain/library/uses";
import { writeTeams } from "@/server/interop/team-files";
import type { LibraryStore, Stored } from "@/server/store/library/library";
import { usersOf } from "@/server/store/users";
import { copyName } from "@/server/store/workflows";
import { operationsOf } from "../operation";
import type { Place } from "../paging";
import { notFound } from "../rejections";
import type { Services } from "../services";
import { StoredAgent, StoredCrew } from "./library-schemas";

const { mutation, query } = operationsOf("Library");

const ById = z.object({ id: z.string() });
const Name = z.string().overwrite(plainName).trim().min(1, "Enter a name").max(200, "At most 200 characters");

type Word = "crew" | "agent";

/** An item under its kind's key with a display name, as sent to be stored. */
type Named<W extends Word, Thing> = { name: string } & Record<W, Thing>;
/** The same with an id of its own, which is its name if it has none. */
type Identified<W extends Word, Thing> = { name?: string | undefined } & Record<W, Thing>;
/** The same with the place and the revision that the change was made on. */
type Changed<W extends Word, Thing> = Identified<W, Thing> & { id: string; revision?: number | undefined };

/** One kind of thing in the library, as its operations need to know it. */
export interface Shelf<
  W extends Word,
  Thing extends object,
  Sent extends z.ZodType<Named<W, Thing>> = z.ZodType<Named<W, Thing>>,
  Whole extends z.ZodType<Identified<W, Thing>> = z.ZodType<Identified<W, Thing>>,
  Saved extends z.ZodType<Changed<W, Thing>> = z.ZodType<Changed<W, Thing>>,
> {
  word: W;
  /** What makes a new one, by its name or under its own id, and what changes one. */
  sent: Sent;
  identified: Whole;
  saved: Saved;
  /** What one is answered as. */
  stored: z.ZodType;
  /** Where others name it. */
  namedBy: string;
  idKey: keyof Thing & string;
  /** The thing under its word. */
  under(thing: Thing): Record<W, Thing>;
  storeOf(services: Services): LibraryStore<W, Thing>;
  /** The item as returned: completed with what it references in the library. */
  whole(thing: Thing, services: Services): Thing;
  usesOf(users: Users): Map<string, Use[]>;
}

/** An agent of the library is no member of anything. */
export const LibraryAgent = AgentConfig.omit({ agent_ref: true });

const SentCrew = z.object({ name: Name, crew: CrewConfig });
const SentAgent = z.object({ name: Name, agent: LibraryAgent });
const IdentifiedCrew = SentCrew.partial({ name: true });
const IdentifiedAgent = SentAgent.partial({ name: true });
const change = { id: z.string(), revision: z.number().int().optional() };

export const crewShelf = {
  word: "crew",
  sent: SentCrew,
  identified: IdentifiedCrew,
  saved: IdentifiedCrew.extend(change),
  stored: StoredCrew,
  namedBy: "Workflows refer to them by `crew_id_or_config_ref`.",
  idKey: "crew_id",
  under: (crew) => ({ crew }),
  storeOf: ({ crews }) => crews,
  // With the present settings of those members that are agents of the library.
  whole: (crew, { library }) => crewWith(crew, library),
  usesOf: usesOfCrews,
} satisfies Shelf<"crew", CrewConfig>;
export const agentShelf = {
  word: "agent",
  sent: SentAgent,
  identified: IdentifiedAgent,
  saved: IdentifiedAgent.extend(change),
  stored: StoredAgent,
  namedBy: "Crews and agent tasks refer to them by `agent_ref`.",
  idKey: "agent_id",
  under: (agent) => ({ agent }),
  storeOf: ({ agents }) => agents,
  whole: (agent) => agent,
  usesOf: usesOfAgents,
} satisfies Shelf<"agent", z.output<typeof LibraryAgent>>;

/** List, add, read, replace, copy and delete: the same for crews and for agents. */
export function shelfOperations<
  W extends Word,
  Thing extends object,
  Sent extends z.ZodType<Named<W, Thing>>,
  Whole extends z.ZodType<Identified<W, Thing>>,
  Saved extends z.ZodType<Changed<W, Thing>>,
>(shelf: Shelf<W, Thing, Sent, Whole, Saved>) {
  const { word, idKey, stored: output } = shelf;
  const Title = `${present(word[0], "word[0]").toUpperCase()}${word.slice(1)}`;
  const a = word === "agent" ? "an" : "a";
  const whole = (stored: Stored<W, Thing>, services: Services): Stored<W, Thing> => ({
    ...stored,
    ...shelf.under(shelf.whole(stored[word], services)),
  });
  const found = (services: Services, id: string): Stored<W, Thing> => {
    const stored = shelf.storeOf(services).find(id);
    if (!stored) throw notFound(word);
    return stored;
  };
  /** Research team -> research_team, with a number behind it where that is taken. */
  const idFrom = (name: string, services: Services) => {
    const taken = new Set(
      shelf
        .storeOf(services)
        .list()
        .map(({ id }) => id),
    );
    return freshId(toId(name).toLowerCase() || word, taken);
  };

  return {
    list: query({
      name: `list${Title}s`,
      summary: `List ${word}s in the library by name`,
      needs: "read",
      input: z.void(),
      about: shelf.namedBy,
      output: z.array(output),
      http: {
        route: `GET /${word}s`,
        success: `A page of ${word}s`,
        as: `${word}s`,
        page: ({ name, id }: { name: string; id: string }): Place => [name.toLowerCase(), id],
      },
      run(services) {
        const uses = shelf.usesOf(usersOf(services));
        const all = shelf.storeOf(services).list();
        return all.map((stored) => ({ ...whole(stored, services), used_by: uses.get(stored.id) ?? [] }));
      },
    }),

    get: query({
      name: `get${Title}`,
      summary: `Get ${a} ${word} from the library`,
      needs: "read",
      input: ById,
      output,
      http: { route: `GET /${word}s/{id}`, success: `The ${word}; \`ETag\` is its revision`, etag: true },
      run: (services, { id }) => whole(found(services, id), services),
    }),

    /** The id is made from the name. */
    create: mutation({
      name: `create${Title}ByName`,
      summary: `Create ${a} ${word} with an ID based on its name`,
      needs: "author",
      input: shelf.sent,
      http: { browserOnly: `programs choose the ID themselves: POST /${word}s` },
      run(services, input: Named<W, Thing>) {
        const { name, [word]: thing } = input;
        const id = idFrom(name, services);
        shelf.storeOf(services).create(name, { ...thing, [idKey]: id });
        return { id };
      },
    }),

    save: mutation({
      name: `replace${Title}`,
      summary: `Replace ${a} ${word} in the library`,
      about: "Its ID doesn't change. Active runs keep the copy they started with.",
      needs: "author",
      input: shelf.saved,
      output,
      problems: ["not_found", "changed_meanwhile", "id_fixed"],
      http: { route: `PUT /${word}s/{id}`, success: `The ${word}; \`ETag\` is its revision`, etag: true },
      run(services, input: Changed<W, Thing>, { principal }) {
        const before = found(services, input.id);
        const { id, revision = before.revision, name = before.name, [word]: thing } = input;
        // The forms of the app do not edit the id; a program could expect that it changes.
        if (principal.kind === "token" && thing[idKey] !== id)
          throw new Rejection(
            "id_fixed",
            `${Title} "${id}" can't change its ID: \`${idKey}\` must be "${id}".`,
          );
        const result = shelf.storeOf(services).save({ id, revision, name, ...shelf.under(thing) });
        if (result.saved) return whole(found(services, id), services);
        if (!result.current) throw notFound(word);
        throw new Rejection(
          "changed_meanwhile",
          `This ${word} was changed elsewhere. Reload it.`,
          { revision: result.current.revision },
          { reason: "stale", current: whole(result.current, services) },
        );
      },
    }),

    duplicate: mutation({
      name: `duplicate${Title}`,
      summary: `Duplicate ${a} ${word}`,
      needs: "author",
      input: ById,
      output: ById,
      http: { route: `POST /${word}s/{id}/duplicate`, status: 201, success: "The ID of the copy" },
      run(services, input) {
        const { name, [word]: thing } = found(services, input.id);
        const store = shelf.storeOf(services);
        const copy = copyName(name.slice(0, 180), new Set(store.list().map((other) => other.name)));
        const id = idFrom(copy, services);
        store.create(copy, { ...thing, [idKey]: id });
        return { id };
      },
    }),

    remove: mutation({
      name: `delete${Title}`,
      summary: `Delete ${a} ${word} from the library`,
      needs: "author",
      input: ById.extend({ force: z.boolean().default(false) }),
      problems: ["not_found", `${word}_in_use`],
      about: "If anything refers to it, `force=true` is required.",
      http: { route: `DELETE /${word}s/{id}`, success: "Deleted" },
      run(services, { id, force }) {
        found(services, id);
        const used_by = force ? [] : (shelf.usesOf(usersOf(services)).get(id) ?? []);
        if (used_by.length > 0)
          throw new Rejection(
            `${word}_in_use`,
            `This ${word} is used by ${countUses(used_by)}.`,
            { used_by },
            { reason: "used" },
          );
        shelf.storeOf(services).remove(id);
      },
    }),

    /** Adds an item under its own id; also restores a deleted one. */
    restore: mutation({
      name: `create${Title}`,
      summary: `Create ${a} ${word} in the library`,
      about: `\`${idKey}\` is the ID used to refer to it and must be unique. \`name\` is shown to people.`,
      needs: "author",
      input: shelf.identified,
      output,
      problems: ["id_taken"],
      http: {
        route: `POST /${word}s`,
        status: 201,
        success: `The ${word}; \`ETag\` is its revision`,
        etag: true,
        location: `/${word}s/{id}`,
      },
      run(services, input: Identified<W, Thing>) {
        const { [word]: thing } = input;
        const id = String(thing[idKey]);
        const { name = id } = input;
        if (!shelf.storeOf(services).create(name, thing))
          throw new Rejection("id_taken", `${Title} "${id}" already exists.`);
        return whole(found(services, id), services);
      },
    }),
  };
}

const Export = z.object({ ids: z.array(z.string()).optional(), format: z.enum(["yaml", "json"]) });

/** The library of crews. */
export const crewOperations = {
  ...shelfOperations(crewShelf),

  /** With the agents of the library that are in them, and the roles of all. */
  export: query({
    name: "exportCrews",
    summary: "Export crews as a file",
    needs: "read",
    input: Export,
    http: { browserOnly: "a file for people; programs use listCrews" },
    run(services, { ids, format }) {
      const crews = services.crews
        .list()
        .filter(({ id }) => !ids || ids.includes(id))
        .map(({ crew }) => crewWith(crew, services.library));
      const members = new Set(crews.flatMap((crew) => [...agentsOfCrew(crew)]));
      const agents = services.agents.list().flatMap(({ id, agent }) => (members.has(id) ? [agent] : []));
      const named = new Set(crews.flatMap((crew) => [...rolesOfCrew(crew)]));
      const roles = services.roles.all().filter(({ name }) => named.has(name));
      const base = crews.length === 1 ? (crews[0]?.crew_id ?? "crew") : "crews";
      return { file_name: `${base}.${format}`, text: writeTeams({ crews, agents, roles }, format) };
    },
  }),
};

/** The library of agents. */
export const agentOperations = {
  ...shelfOperations(agentShelf),

  /** With the roles of the agents. */
  export: query({
    name: "exportAgents",
    summary: "Export agents as a file",
    needs: "read",
    input: Export,
    http: { browserOnly: "a file for people; programs use listAgents" },
    run(services, { ids, format }) {
      const found = services.agents.list().filter(({ id }) => !ids || ids.includes(id));
      const agents = found.map(({ agent }) => agent);
      const named = new Set(agents.map(({ role_name }) => role_name));
      const roles = services.roles.all().filter(({ name }) => named.has(name));
      const base = found.length === 1 ? (found[0]?.id ?? "agent") : "agents";
      return { file_name: `${base}.${format}`, text: writeTeams({ agents, roles }, format) };
    },
  }),
};
