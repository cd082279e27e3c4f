import { parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { errorMessage } from "@/server/domain/base/guards";
import { parseJson } from "@/server/domain/base/json";
import type { ChannelHandler, WorkerChannel } from "../at-workers";

/** Opens a connection to a server that is a process of a worker. Throws NoSuchWorker. */
export type OpenChannel = (end: ChannelHandler) => Promise<WorkerChannel>;

/** Messages of the protocol over a wire to a worker, which starts the process and hands them on. */
export function newChannelTransport(open: OpenChannel): Transport {
  let channel: WorkerChannel | null = null;
  const transport: Transport = {
    async start() {
      channel = await open({
        // What a process wrote; the client reads it with the same care as from a process of this machine.
        message(message) {
          try {
            transport.onmessage?.(parseJSONRPCMessage(message));
          } catch (error) {
            transport.onerror?.(new Error(errorMessage(error)));
          }
        },
        closed(why) {
          channel = null;
          transport.onerror?.(new Error(why));
          transport.onclose?.();
        },
      });
    },
    async send(message) {
      if (!channel) throw new Error("The worker that had it is gone");
      channel.send(parseJson(JSON.stringify(message)));
    },
    async close() {
      channel?.close();
      channel = null;
      transport.onclose?.();
    },
  };
  return transport;
}
