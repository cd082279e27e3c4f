import type { Db } from "@/db/open";

/** The runs that a run comes from, the nearest first, also those in the bin, without those permanently deleted. */
export function newAncestors({ $client: client }: Pick<Db, "$client">) {
  const select = client.prepare<[string], { id: string; last_turn: number }>(
    `with recursive line (id, root, depth) as (
       select forked_from, root_run, 1 from runs where id = ?
       union all select runs.forked_from, runs.root_run, depth + 1 from line join runs on runs.id = line.id
     )
     select runs.id, last_turn from runs join (
       select id, depth from line union all select root, 1e9 from line
     ) as known on known.id = runs.id group by runs.id order by min(depth)`,
  );
  return (id: string): { id: string; last_turn: number }[] => select.all(id);
}
