import { eq, inArray, sql } from "drizzle-orm";
import type { Db } from "@/db/open";
import { crewWork } from "@/db/schema";
import { defined } from "@/server/domain/base/defined";
import type { PastCounts, PastWork } from "@/server/domain/crew/past-work";
import type { WorkflowGraph } from "@/server/domain/graph/graph";
import { isCrewNode } from "@/server/domain/nodes";
import type { WorkDone } from "@/server/domain/run/work-done";

/** Whose work it is: of which workflow, null where it is none that is kept, and of simulated models or of real ones. */
export interface WorkPlace {
  workflow_id: string | null;
  simulated: boolean;
}

interface Sums {
  node_id: string;
  agent_id: string;
  role_name: string;
  done: number;
  failed: number;
  sent_back: number;
  role_done: number;
  role_failed: number;
  role_sent_back: number;
}

export type CrewWorkStore = ReturnType<typeof newCrewWorkStore>;

/** What members of crews did in runs that ended: sums, so that they stay when the runs are deleted. */
export function newCrewWorkStore({ $client: client }: Db) {
  const insert = client.prepare(
    `insert into crew_work (workflow_id, node_id, crew_id, agent_id, role_name, simulated, done, failed, sent_back)
     values (@workflow_id, @node_id, @crew_id, @agent_id, @role_name, @simulated, @done, @failed, @sent_back) on conflict do update
     set done = done + excluded.done, failed = failed + excluded.failed, sent_back = sent_back + excluded.sent_back`,
  );
  const select = client.prepare<[string, { workflow: string; simulated: number }], Sums>(
    `with wanted as (select value ->> 0 as node_id, value ->> 1 as crew_id, value ->> 2 as agent_id, value ->> 3 as role_name,
       key as place from json_each(?)),
     found as (select m.*, w.done, w.failed, w.sent_back,
       w.agent_id = m.agent_id and ((w.workflow_id = @workflow and w.workflow_id <> '' and w.node_id = m.node_id)
         or (w.crew_id = m.crew_id and w.crew_id <> '')) as own
       from wanted m join crew_work w on w.role_name = m.role_name and w.simulated = @simulated)
     select node_id, agent_id, role_name, sum(iif(own, done, 0)) as done, sum(iif(own, failed, 0)) as failed,
       sum(iif(own, sent_back, 0)) as sent_back, sum(done) as role_done, sum(failed) as role_failed,
       sum(sent_back) as role_sent_back
     from found group by place order by place`,
  );

  return {
    /** Adds what a run's crews did. Whoever calls sees to it that a run counts once. */
    add({ workflow_id, simulated }: WorkPlace, work: readonly WorkDone[]): void {
      for (const one of work)
        insert.run({ ...one, workflow_id: workflow_id ?? "", simulated: simulated ? 1 : 0 });
    },

    /** What the members of a graph's crews did so far, by one query; none of whom nothing is known. */
    past({ workflow_id, simulated }: WorkPlace, graph: WorkflowGraph): PastWork[] {
      const members = Object.values(graph.nodes).flatMap((node) =>
        isCrewNode(node)
          ? (node.config.crew?.agents ?? []).map(({ agent_id, role_name }) => [
              node.id,
              node.config.crew_id_or_config_ref ?? "",
              agent_id,
              role_name,
            ])
          : [],
      );
      if (members.length === 0) return [];
      const place = { workflow: workflow_id ?? "", simulated: simulated ? 1 : 0 };
      return select.all(JSON.stringify(members), place).map((row) => {
        const { node_id, agent_id, role_name } = row;
        const own = { done: row.done, failed: row.failed, sent_back: row.sent_back };
        const role = { done: row.role_done, failed: row.role_failed, sent_back: row.role_sent_back };
        return { node_id, agent_id, role_name, ...defined({ own: isNone(own) ? undefined : own }), role };
      });
    },
  };
}

const isNone = ({ done, failed }: PastCounts) => done + failed === 0;

/** Deletes the records of workflows that are deleted permanently. */
export function forgetWorkOf(db: Pick<Db, "delete">, workflowIds: readonly string[]): void {
  if (workflowIds.length > 0)
    db.delete(crewWork)
      .where(inArray(crewWork.workflowId, [...workflowIds]))
      .run();
}

/** Moves a renamed role's records to its new name. */
export function renameWorkOf(db: Pick<Db, "run" | "delete">, from: string, to: string): void {
  db.run(sql`insert into crew_work (workflow_id, node_id, crew_id, agent_id, role_name, simulated, done, failed, sent_back)
    select workflow_id, node_id, crew_id, agent_id, ${to}, simulated, done, failed, sent_back from crew_work
    where role_name = ${from} on conflict do update
    set done = done + excluded.done, failed = failed + excluded.failed, sent_back = sent_back + excluded.sent_back`);
  db.delete(crewWork).where(eq(crewWork.roleName, from)).run();
}
