// Where a person's systems keep what programs keep for them.
import os from "node:os";
import path from "node:path";
import process from "node:process";

/** The folder for a program's data, by the custom of the system; a relative XDG_DATA_HOME counts as none, as XDG says. */
export function userDataFolder({ platform = process.platform, env = process.env, home = os.homedir() } = {}) {
  if (platform === "win32")
    return path.win32.join(env.LOCALAPPDATA || path.win32.join(home, "AppData", "Local"), "Troupe");
  if (platform === "darwin") return path.posix.join(home, "Library", "Application Support", "Troupe");
  const { XDG_DATA_HOME: given } = env;
  const data = given && path.posix.isAbsolute(given) ? given : path.posix.join(home, ".local", "share");
  return path.posix.join(data, "troupe");
}

/** The folder for what can be fetched anew. */
export const userCacheFolder = () =>
  process.platform === "win32"
    ? path.join(process.env.LOCALAPPDATA || os.tmpdir(), "troupe")
    : path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache"), "troupe");
