import { config } from "zod/v4/core";

// Before any schema is made: zod would ask the browser whether it may compile code, and the pages' policy answers such
// a question with an entry in the console.
config({ jitless: true });
