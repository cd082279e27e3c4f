// The user's data and cache folders on each platform.
import os from "node:os";
import path from "node:path";
import process from "node:process";

/** The platform's folder for application data. A relative XDG_DATA_HOME is ignored, as the XDG specification says. */
export function userDataFolder({ platform = process.platform, env = process.env, home = os.homedir() } = {}) {
  if (platform === "win32")
    return path.win32.join(env.LOCALAPPDATA || path.win32.join(home, "AppData", "Local"), "Troupe");
  if (platform === "darwin") return path.posix.join(home, "Library", "Application Support", "Troupe");
  const { XDG_DATA_HOME: xdg } = env;
  const data = xdg && path.posix.isAbsolute(xdg) ? xdg : path.posix.join(home, ".local", "share");
  return path.posix.join(data, "troupe");
}

/** The folder for files that can be downloaded again. */
export const userCacheFolder = () =>
  process.platform === "win32"
    ? path.join(process.env.LOCALAPPDATA || os.tmpdir(), "troupe")
    : path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache"), "troupe");
