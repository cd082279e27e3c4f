/** Sends a request to a running Troupe, at the address given on the command line; follows no redirects. */
export const askOwnServer = (url: URL, init: RequestInit): Promise<Response> =>
  fetch(url, { ...init, redirect: "error" });
