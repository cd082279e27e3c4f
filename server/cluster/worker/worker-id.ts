import { randomBytes } from "node:crypto";

/** Of a worker's process: started again, it is another one of the same name. */
export const newWorkerId = (name: string): string => `${name}.${randomBytes(4).toString("hex")}`;

/** What people call the worker, also one that this process of the server never heard of. */
export const workerNameOf = (id: string): string => id.replace(/\.[0-9a-f]{8}$/, "");
