import { arrange, type Task } from "./arrange";

// Dense drawings take seconds: beside the page, so that it never stands still.
self.onmessage = ({ data }: MessageEvent<Task>) => self.postMessage(arrange(data));
