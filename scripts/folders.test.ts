import { expect, test } from "vitest";
import { userDataFolder } from "./folders.mjs";

test("an installed Troupe uses the platform's folder for application data", () => {
  const at = (platform: NodeJS.Platform, env: NodeJS.ProcessEnv, home: string) =>
    userDataFolder({ platform, env, home });
  const none = {} as NodeJS.ProcessEnv;
  expect(at("linux", none, "/home/ada")).toBe("/home/ada/.local/share/troupe");
  expect(at("linux", { ...none, XDG_DATA_HOME: "/data/ada" }, "/home/ada")).toBe("/data/ada/troupe");
  expect(at("linux", { ...none, XDG_DATA_HOME: "data" }, "/home/ada")).toBe("/home/ada/.local/share/troupe");
  expect(at("darwin", none, "/Users/ada")).toBe("/Users/ada/Library/Application Support/Troupe");
  expect(at("win32", { ...none, LOCALAPPDATA: "D:\\Local" }, "C:\\Users\\ada")).toBe("D:\\Local\\Troupe");
  expect(at("win32", none, "C:\\Users\\ada")).toBe("C:\\Users\\ada\\AppData\\Local\\Troupe");
});
