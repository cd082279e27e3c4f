import { offlineDemo, type Providers } from "@/server/domain/model/provider";
import type { Models } from "./model";
import { newModels } from "./models";
import { newOfflineFetch } from "./offline";

const DEMO = offlineDemo(true);

/** Whatever provider is named, it is the offline demo model. Nothing is learned or kept. */
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

/** The offline demo model at once and for every choice of a model: whoever needs answers that are the same each time. */
export const newDemoModels = (): Models =>
  newModels({ providers: EVERYWHERE, offlineFetch: newOfflineFetch({ speed: 0 }) });
