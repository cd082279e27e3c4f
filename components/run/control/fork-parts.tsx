"use client";

import type { ForkRefusal } from "./use-fork";

/** Why no fork was made. */
export function ForkRefused({ refusal }: { refusal: ForkRefusal | null }) {
  if (!refusal) return null;
  const { message, faults } = refusal;
  return (
    <div role="alert" className="text-[13px] text-failed">
      <p>{message}</p>
      {faults.length > 0 ? (
        <ul className="mt-1 list-disc pl-5">
          {faults.map((fault) => (
            <li key={fault}>{fault}</li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
