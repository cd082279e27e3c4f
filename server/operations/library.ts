import { z } from "zod";
import { AgentConfig } from "@/server/domain/agent/role";
import { freshId, toId } from "@/server/domain/base/ids";
import { present } from "@/server/domain/base/must";
import { plainName } from "@/server/domain/base/names";
import { CrewConfig } from "@/server/domain/crew/crew";
import { crewWith } from "@/server/domain/library/library";
import { countUses, type Use, type Users, usesOfAgents, usesOfCrews } from "@/server/domain/library/uses";
import type { LibraryStore, Stored } from "@/server/store/library/library";
import { usersOf } from "@/server/store/users";
import { copyName } from "@/server/store/workflows";
import { operationsOf } from "./operation";
import { notFound, Problem } from "./problem";
import type { Services } from "./services";

const { mutation, query } = operationsOf("Library");

const ById = z.object({ id: z.string() });
const Name = z
  .string()
  .overwrite(plainName)
  .trim()
  .min(1, "Give it a name")
  .max(200, "At most 200 characters");

type Word = "crew" | "agent";

/** A thing under its own word with what people call it, as it is sent to be kept. */
type Named<W extends Word, Thing> = { name: string } & Record<W, Thing>;
/** The same with the place and the revision that the change was made on. */
type Changed<W extends Word, Thing> = Named<W, Thing> & { id: string; revision: number };

/** One kind of thing in the library, as its operations need to know it. */
export interface Shelf<
  W extends Word,
  Thing extends object,
  Sent extends z.ZodType<Named<W, Thing>> = z.ZodType<Named<W, Thing>>,
  Saved extends z.ZodType<Changed<W, Thing>> = z.ZodType<Changed<W, Thing>>,
> {
  word: W;
  /** What makes a new one, and what changes one. */
  sent: Sent;
  saved: Saved;
  idKey: keyof Thing & string;
  /** The thing under its word. */
  under(thing: Thing): Record<W, Thing>;
  storeOf(services: Services): LibraryStore<W, Thing>;
  /** As it is answered: with what it takes from elsewhere in the library. */
  whole(thing: Thing, services: Services): Thing;
  usesOf(users: Users): Map<string, Use[]>;
}

/** An agent of the library is no member of anything. */
export const LibraryAgent = AgentConfig.omit({ agent_ref: true });

const SentCrew = z.object({ name: Name, crew: CrewConfig });
const SentAgent = z.object({ name: Name, agent: LibraryAgent });
const change = { id: z.string(), revision: z.number().int() };

export const crewShelf = {
  word: "crew",
  sent: SentCrew,
  saved: SentCrew.extend(change),
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
  saved: SentAgent.extend(change),
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
  Saved extends z.ZodType<Changed<W, Thing>>,
>(shelf: Shelf<W, Thing, Sent, Saved>) {
  const { word, idKey } = shelf;
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
      summary: `Lists the ${word}s of the library by name`,
      needs: "read",
      input: z.void(),
      http: { own: "a list in pages, by a cursor" },
      run(services) {
        const uses = shelf.usesOf(usersOf(services));
        const all = shelf.storeOf(services).list();
        return all.map((stored) => ({ ...whole(stored, services), used_by: uses.get(stored.id) ?? [] }));
      },
    }),

    get: query({
      name: `get${Title}`,
      summary: `One ${word} of the library`,
      needs: "read",
      input: ById,
      problems: ["not_found"],
      http: { own: "its revision goes out as ETag" },
      run: (services, { id }) => whole(found(services, id), services),
    }),

    /** The id is made from the name. */
    create: mutation({
      name: `create${Title}ByName`,
      summary: `Adds ${a} ${word} under an id that is made from its name`,
      needs: "author",
      input: shelf.sent,
      http: { browserOnly: `a program says the id itself: POST /${word}s` },
      run(services, input: Named<W, Thing>) {
        const { name, [word]: thing } = input;
        const id = idFrom(name, services);
        shelf.storeOf(services).create(name, { ...thing, [idKey]: id });
        return { id };
      },
    }),

    save: mutation({
      name: `replace${Title}`,
      summary: `Saves ${a} ${word} where nobody changed it meanwhile`,
      about: "It keeps its id. Runs under way keep the copy that they began with.",
      needs: "author",
      input: shelf.saved,
      problems: ["not_found", "changed_meanwhile"],
      http: { own: "its revision comes in as If-Match and goes out as ETag" },
      run(services, input) {
        const result = shelf.storeOf(services).save(input);
        if (result.saved) return { revision: result.revision };
        if (!result.current) throw notFound(word);
        throw new Problem(
          "changed_meanwhile",
          `This ${word} was changed in another place.`,
          { revision: result.current.revision },
          {
            editor: { reason: "stale", current: whole(result.current, services) },
          },
        );
      },
    }),

    duplicate: mutation({
      name: `duplicate${Title}`,
      summary: `Makes a copy of ${a} ${word}`,
      needs: "author",
      input: ById,
      output: ById,
      problems: ["not_found"],
      http: { route: `POST /${word}s/{id}/duplicate`, status: 201, success: "The id of the copy" },
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
      summary: `Deletes ${a} ${word} from the library`,
      needs: "author",
      input: ById.extend({ force: z.boolean().default(false) }),
      problems: ["not_found", `${word}_in_use`],
      http: { own: "force comes as a text in the address" },
      run(services, { id, force }) {
        found(services, id);
        const used_by = force ? [] : (shelf.usesOf(usersOf(services)).get(id) ?? []);
        if (used_by.length > 0)
          throw new Problem(
            `${word}_in_use`,
            `This ${word} is used by ${countUses(used_by)}.`,
            { used_by },
            { editor: { reason: "used" } },
          );
        shelf.storeOf(services).remove(id);
      },
    }),

    /** Adds one under its own id; also what brings a deleted one back as it was. */
    restore: mutation({
      name: `create${Title}`,
      summary: `Adds ${a} ${word} to the library under its own id`,
      needs: "author",
      input: shelf.sent,
      problems: ["id_taken"],
      http: { own: "201 with a location and its revision as ETag" },
      run(services, input: Named<W, Thing>) {
        const { name, [word]: thing } = input;
        const id = String(thing[idKey]);
        if (!shelf.storeOf(services).create(name, thing))
          throw new Problem("id_taken", `There is ${a} ${word} "${id}" already.`);
        return { id };
      },
    }),
  };
}

/** The library of crews and agents. */
export const crewOperations = shelfOperations(crewShelf);
export const agentOperations = shelfOperations(agentShelf);
