import { expect, test } from "vitest";
import { emptyDb } from "@/db/testing";
import { CrewConfig } from "@/server/domain/crew/crew";
import { newCrewStore } from "./crews";

const crewOf = (crew_id: string, role_name = "Writer") =>
  CrewConfig.parse({ crew_id, agents: [{ agent_id: "a", role_name }] });
const newStore = () => newCrewStore(emptyDb(), () => 1000);

test("crews are listed by name, and their ids are unique", () => {
  const store = newStore();
  expect(store.create("zebra", crewOf("z"))).toBe(true);
  expect(store.create("Apple", crewOf("a"))).toBe(true);
  expect(store.create("Another", crewOf("a", "Editor"))).toBe(false);
  expect(store.list().map(({ name }) => name)).toEqual(["Apple", "zebra"]);
  expect(store.find("a")).toEqual({
    id: "a",
    name: "Apple",
    crew: crewOf("a"),
    revision: 1,
    updated_at: 1000,
  });
});

test("saving a crew requires its current revision and never changes its id", () => {
  const store = newStore();
  store.create("Apple", crewOf("a"));
  expect(store.save({ id: "a", revision: 1, name: "Pear", crew: crewOf("other", "Editor") })).toEqual({
    saved: true,
    revision: 2,
  });
  expect(store.find("a")).toMatchObject({ name: "Pear", crew: { crew_id: "a" } });
  expect(store.find("other")).toBeUndefined();
  expect(store.save({ id: "a", revision: 1, name: "Late", crew: crewOf("a") })).toMatchObject({
    saved: false,
    current: { name: "Pear", revision: 2 },
  });
  expect(store.save({ id: "gone", revision: 1, name: "X", crew: crewOf("gone") })).toEqual({
    saved: false,
    current: undefined,
  });
});

test("putting a crew replaces it with a new revision, and removing deletes it", () => {
  const store = newStore();
  store.put("Apple", crewOf("a"));
  store.put("Apple 2", crewOf("a", "Editor"));
  expect(store.find("a")).toMatchObject({ name: "Apple 2", revision: 2 });
  expect(store.remove("a")).toBe(true);
  expect(store.remove("a")).toBe(false);
});
