/** Asks a Troupe that is at work, at the address that the person at the terminal names; it follows nowhere else. */
export const askOwnServer = (url: URL, init: RequestInit): Promise<Response> =>
  fetch(url, { ...init, redirect: "error" });
