import { arrange, type ToArrange } from "./arrange";

// Dense drawings take seconds: beside the page, so that it never stands still.
self.onmessage = ({ data }: MessageEvent<ToArrange>) => self.postMessage(arrange(data));
