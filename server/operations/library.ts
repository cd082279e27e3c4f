import { z } from "zod";
import { AgentConfig } from "@/server/domain/agent/role";
import { freshId, toId } from "@/server/domain/base/ids";
import { present } from "@/server/domain/base/must";
import { CrewConfig } from "@/server/domain/crew/crew";
import { crewWith } from "@/server/domain/library/library";
import { countUses, type Use, type Users, usesOfAgents, usesOfCrews } from "@/server/domain/library/uses";
import type { LibraryStore, Stored } from "@/server/store/library";
import { usersOf } from "@/server/store/users";
import { copyName } from "@/server/store/workflows";
import { operation } from "./operation";
import { notFound, Problem } from "./problem";
import type { Services } from "./services";

const ById = z.object({ id: z.string() });
const Name = z.string().trim().min(1, "Give it a name").max(200, "At most 200 characters");

type Word = "crew" | "agent";

/** One kind of thing in the library, as its operations need to know it. */
export interface Shelf<W extends Word, Thing extends object, Schema extends z.ZodType<Thing>> {
  word: W;
  schema: Schema;
  idKey: keyof Thing & string;
  storeOf(services: Services): LibraryStore<W, Thing>;
  /** As it is answered: with what it takes from elsewhere in the library. */
  whole(thing: Thing, services: Services): Thing;
  usesOf(users: Users): Map<string, Use[]>;
}

/** An agent of the library is no member of anything. */
export const LibraryAgent = AgentConfig.omit({ agent_ref: true });

export const crewShelf: Shelf<"crew", CrewConfig, typeof CrewConfig> = {
  word: "crew",
  schema: CrewConfig,
  idKey: "crew_id",
  storeOf: ({ crews }) => crews,
  // With the present settings of those members that are agents of the library.
  whole: (crew, { library }) => crewWith(crew, library),
  usesOf: usesOfCrews,
};
export const agentShelf: Shelf<"agent", z.output<typeof LibraryAgent>, typeof LibraryAgent> = {
  word: "agent",
  schema: LibraryAgent,
  idKey: "agent_id",
  storeOf: ({ agents }) => agents,
  whole: (agent) => agent,
  usesOf: usesOfAgents,
};

/** List, add, read, replace, copy and delete: the same for crews and for agents. */
export function shelfOperations<W extends Word, Thing extends object, Schema extends z.ZodType<Thing>>(
  shelf: Shelf<W, Thing, Schema>,
) {
  const { word, idKey } = shelf;
  const Title = `${present(word[0], "word[0]").toUpperCase()}${word.slice(1)}`;
  const a = word === "agent" ? "an" : "a";
  // A computed key is lost on the type checker, here and where its value is taken out again.
  const Sent = z.object({ name: Name, [word]: shelf.schema }) as unknown as z.ZodObject<
    { name: typeof Name } & Record<W, Schema>
  >;
  const Saved = Sent.extend({ id: z.string(), revision: z.number().int() }) as unknown as z.ZodObject<
    { id: z.ZodString; revision: z.ZodNumber; name: typeof Name } & Record<W, Schema>
  >;
  const sent = (input: unknown) => input as { name: string } & Record<W, Thing>;
  const saved = (input: unknown) =>
    input as { id: string; revision: number; name: string } & Record<W, Thing>;

  const whole = (stored: Stored<W, Thing>, services: Services): Stored<W, Thing> => ({
    ...stored,
    [word]: shelf.whole(stored[word], services),
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
    list: operation({
      kind: "query",
      name: `list${Title}s`,
      summary: `Lists the ${word}s of the library by name`,
      tag: "Library",
      input: z.void(),
      http: "own",
      run(services) {
        const uses = shelf.usesOf(usersOf(services));
        const all = shelf.storeOf(services).list();
        return all.map((stored) => ({ ...whole(stored, services), used_by: uses.get(stored.id) ?? [] }));
      },
    }),

    get: operation({
      kind: "query",
      name: `get${Title}`,
      summary: `One ${word} of the library`,
      tag: "Library",
      input: ById,
      problems: ["not_found"],
      http: "own",
      run: (services, { id }) => whole(found(services, id), services),
    }),

    /** The id is made from the name. */
    create: operation({
      kind: "mutation",
      name: `create${Title}ByName`,
      summary: `Adds ${a} ${word} under an id that is made from its name`,
      tag: "Library",
      input: Sent,
      http: { browserOnly: `a program says the id itself: POST /${word}s` },
      run(services, input) {
        const { name, [word]: thing } = sent(input);
        const id = idFrom(name, services);
        shelf.storeOf(services).create(name, { ...thing, [idKey]: id });
        return { id };
      },
    }),

    save: operation({
      kind: "mutation",
      name: `replace${Title}`,
      summary: `Saves ${a} ${word} where nobody changed it meanwhile`,
      about: "It keeps its id. Runs under way keep the copy that they began with.",
      tag: "Library",
      input: Saved,
      problems: ["not_found", "changed_meanwhile"],
      http: "own",
      run(services, input) {
        const result = shelf.storeOf(services).save(saved(input));
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

    duplicate: operation({
      kind: "mutation",
      name: `duplicate${Title}`,
      summary: `Makes a copy of ${a} ${word}`,
      tag: "Library",
      input: ById,
      output: ById,
      problems: ["not_found"],
      http: {
        method: "POST",
        path: `/${word}s/{id}/duplicate`,
        status: 201,
        success: "The id of the copy",
      },
      run(services, input) {
        const { name, [word]: thing } = found(services, input.id);
        const store = shelf.storeOf(services);
        const copy = copyName(name.slice(0, 180), new Set(store.list().map((other) => other.name)));
        const id = idFrom(copy, services);
        store.create(copy, { ...thing, [idKey]: id });
        return { id };
      },
    }),

    remove: operation({
      kind: "mutation",
      name: `delete${Title}`,
      summary: `Deletes ${a} ${word} from the library`,
      tag: "Library",
      input: ById.extend({ force: z.boolean().default(false) }),
      problems: ["not_found", `${word}_in_use`],
      http: "own",
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
    restore: operation({
      kind: "mutation",
      name: `create${Title}`,
      summary: `Adds ${a} ${word} to the library under its own id`,
      tag: "Library",
      input: Sent,
      problems: ["id_taken"],
      http: "own",
      run(services, input) {
        const { name, [word]: thing } = sent(input);
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
