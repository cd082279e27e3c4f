import type { TRPCMutationProcedure, TRPCQueryProcedure } from "@trpc/server";
import type { z } from "zod";
import { type Operation, perform } from "@/server/operations/operation";
import { procedure } from "./trpc";

type ProcedureOf<O> =
  O extends Operation<infer In, infer Out, infer Kind>
    ? Kind extends "query"
      ? TRPCQueryProcedure<{ input: z.input<In>; output: Awaited<Out>; meta: object }>
      : TRPCMutationProcedure<{ input: z.input<In>; output: Awaited<Out>; meta: object }>
    : never;
type ProceduresOf<Ops> = { [Name in keyof Ops]: ProcedureOf<Ops[Name]> };

/** Operations as procedures for the browser, under the same names. */
export function procedures<Ops extends Record<string, Operation>>(operations: Ops): ProceduresOf<Ops> {
  const built = Object.entries<Operation>(operations).map(([name, operation]) => {
    const checked = procedure(operation.needs).input(operation.input);
    const answer = ({ ctx, input, signal }: Parameters<Parameters<typeof checked.query>[0]>[0]) =>
      perform(operation, ctx.services, input, {
        principal: ctx.principal,
        by: "user",
        note: ctx.note,
        signal,
      });
    return [name, operation.kind === "query" ? checked.query(answer) : checked.mutation(answer)];
  });
  // Each is built of the operation that its type is made of; the compiler does not follow the entries.
  return Object.fromEntries(built) as ProceduresOf<Ops>;
}

/** The same for all subjects. */
export const proceduresOf = <Subjects extends Record<string, Record<string, Operation>>>(
  subjects: Subjects,
) =>
  Object.fromEntries(
    Object.entries(subjects).map(([subject, operations]) => [subject, procedures(operations)]),
  ) as { [Subject in keyof Subjects]: ProceduresOf<Subjects[Subject]> };
