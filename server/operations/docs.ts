import { z } from "zod";
import { docHeadings } from "@/server/docs";
import { operationsOf } from "./operation";

const { query } = operationsOf("Server");

export const docOperations = {
  headings: query({
    name: "listDocHeadings",
    summary: "List the headings of the docs",
    needs: "read",
    input: z.void(),
    http: { browserOnly: "what the command palette searches; programs read the files" },
    run: () => docHeadings(),
  }),
};
