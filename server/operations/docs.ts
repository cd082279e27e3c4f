import { z } from "zod";
import { docHeadings, glossary } from "@/server/docs";
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
  terms: query({
    name: "listTerms",
    summary: "List the terms of the glossary",
    needs: "read",
    input: z.void(),
    http: { browserOnly: "explanations on hover; programs read the file" },
    run: () => glossary(),
  }),
};
