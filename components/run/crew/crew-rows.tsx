"use client";

import { Crown } from "lucide-react";
import { person } from "@/components/run/timeline/sentence-parts";
import { MemberFace, MemberMessage, StateIcon } from "./crew-drawing";
import { memberNamed } from "./crew-edges";
import { type CrewScene, memberActivity, taskOf } from "./members";

/** Everyone of a crew, one below the other: who works, on what, and what each is saying. */
export function MemberRows({ scene, onPick }: { scene: CrewScene; onPick: (agentId: string) => void }) {
  return (
    <ul aria-label="Members" className="flex flex-col">
      {scene.crew.members.map(({ agent_id, role_name }) => {
        const activity = memberActivity(scene, agent_id);
        const name = person(agent_id);
        const task = taskOf(scene, agent_id);
        return (
          <li key={agent_id} className="crew-row" data-state={activity.state}>
            <MemberFace roleName={role_name} size={32} />
            <div className="min-w-0 flex-1">
              <button
                type="button"
                onClick={() => onPick(agent_id)}
                className="flex w-full flex-wrap items-center gap-x-1.5 text-left text-sm after:absolute after:inset-0"
              >
                <span className="min-w-0 truncate font-semibold">{name}</span>
                {memberNamed(scene.crew, "manager") === agent_id ? (
                  <Crown aria-label="Manager" className="size-3.5 shrink-0 text-accent" />
                ) : null}
                {role_name === name ? null : (
                  <span className="min-w-0 truncate text-[13px] text-ink-2">{role_name}</span>
                )}
                <span className="crew-state ml-auto">
                  <StateIcon state={activity.state} />
                  <span className="truncate">{activity.text}</span>
                </span>
              </button>
              {task ? <p className="crew-task">{task}</p> : null}
              <MemberMessage scene={scene} agentId={agent_id} />
            </div>
          </li>
        );
      })}
    </ul>
  );
}
