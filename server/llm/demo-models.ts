import { OFFLINE, type Provider, type Providers } from "@/server/domain/model/provider";
import type { Models } from "./model";
import { newModels } from "./models";
import { newOfflineFetch } from "./offline";

const DEMO: Provider = {
  id: OFFLINE.id,
  name: OFFLINE.name,
  kind: "offline",
  base_url: OFFLINE.base_url,
  has_key: false,
  key_hint: null,
  header_names: [],
  default_model: OFFLINE.model,
  is_default: true,
  simulated: true,
  from_environment: false,
  settings: {},
};

/** Whatever provider is named, it is the offline demo model. Nothing is learned or kept. */
const EVERYWHERE: Providers = {
  list: () => [DEMO],
  find: () => DEMO,
  findDefault: () => DEMO,
  keyOf: () => null,
  headersOf: () => ({}),
  observe() {},
  said: () => ({}),
  keepReported() {},
};

/** The offline demo model at once and for every choice of a model: whoever needs answers that are the same each time. */
export const newDemoModels = (): Models =>
  newModels({ providers: EVERYWHERE, offlineFetch: newOfflineFetch({ speed: 0 }) });
