import { arrange, type ToArrange } from "./arrange";

// Dense graphs take seconds: in a worker, so that the page stays responsive.
self.onmessage = ({ data }: MessageEvent<ToArrange>) => self.postMessage(arrange(data));
