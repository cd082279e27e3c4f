import { parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { errorMessage } from "@/server/domain/base/guards";
import { parseJson } from "@/server/domain/base/json";
import type { Wire, WireEnd } from "../at-workers";

/** Opens a connection to a server that is a process of a worker. Throws NoSuchWorker. */
export type OpenWire = (end: WireEnd) => Promise<Wire>;

/** Messages of the protocol over a wire to a worker, which starts the process and hands them on. */
export function newWireTransport(open: OpenWire): Transport {
  let wire: Wire | null = null;
  const transport: Transport = {
    async start() {
      wire = await open({
        // What a process wrote; the client reads it with the same care as from a process of this machine.
        message(message) {
          try {
            transport.onmessage?.(parseJSONRPCMessage(message));
          } catch (error) {
            transport.onerror?.(new Error(errorMessage(error)));
          }
        },
        closed(why) {
          wire = null;
          transport.onerror?.(new Error(why));
          transport.onclose?.();
        },
      });
    },
    async send(message) {
      if (!wire) throw new Error("The worker that had it is gone");
      wire.send(parseJson(JSON.stringify(message)));
    },
    async close() {
      wire?.close();
      wire = null;
      transport.onclose?.();
    },
  };
  return transport;
}
