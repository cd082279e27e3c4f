import { docHeadings } from "@/server/docs";

/** What the command palette searches the docs by. */
export const GET = () => Response.json(docHeadings());
