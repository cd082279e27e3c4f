import { offlineDemo, type Providers } from "@/server/domain/model/provider";
import type { Models } from "./model";
import { newModels } from "./models";
import { newOfflineFetch } from "./offline";

const DEMO = offlineDemo(true);

/** Every provider is the offline demo model. Nothing is learned or stored. */
const EVERYWHERE: Providers = {
  list: () => [DEMO],
  find: () => DEMO,
  findDefault: () => DEMO,
  keyOf: () => null,
  headersOf: () => ({}),
  observe() {},
  reported: () => ({}),
  keepReported() {},
};

/** The offline demo model, without delay and for every choice of a model: for deterministic answers. */
export const newDemoModels = (): Models =>
  newModels({ providers: EVERYWHERE, offlineFetch: newOfflineFetch({ speed: 0 }) });
