"use client";

import type { ForkRefusal } from "./use-fork";

/** Why no fork was made. */
export function ForkRejection({ refusal }: { refusal: ForkRefusal | null }) {
  if (!refusal) return null;
  const { message, errors } = refusal;
  return (
    <div role="alert" className="text-[13px] text-failed">
      <p>{message}</p>
      {errors.length > 0 ? (
        <ul className="mt-1 list-disc pl-5">
          {errors.map((error) => (
            <li key={error}>{error}</li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
