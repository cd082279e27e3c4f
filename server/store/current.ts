import "server-only";

// The door to the server's one database for the few who need it without the rest of the server.
export { dataDir, getDb } from "@/db/client";
