"use client";

import { LogOut } from "lucide-react";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { toast } from "@/components/ui/toasts";

/** Ends the session of this browser, or every one, and leads to the page where one begins. */
export function SignOut() {
  const [ending, setEnding] = useState<"here" | "everywhere" | null>(null);

  async function signOut(where: "here" | "everywhere") {
    setEnding(where);
    // A whole page load, so that nothing of what the session saw stays in memory.
    if (await hasEnded(where)) return window.location.assign("/login");
    setEnding(null);
    toast("Signing out did not work. Is the server running?", { tone: "error" });
  }

  return (
    <div className="flex flex-wrap gap-2">
      <Button
        variant="ghost"
        pending={ending === "everywhere"}
        disabled={ending === "here"}
        onClick={() => void signOut("everywhere")}
      >
        Sign out everywhere
      </Button>
      <Button
        icon={<LogOut aria-hidden />}
        pending={ending === "here"}
        disabled={ending === "everywhere"}
        onClick={() => void signOut("here")}
      >
        Sign out
      </Button>
    </div>
  );
}

async function hasEnded(where: "here" | "everywhere"): Promise<boolean> {
  try {
    const response = await fetch("/api/session", {
      method: "DELETE",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ everywhere: where === "everywhere" }),
    });
    // A session that has ended by itself is as good as signed out.
    return response.ok || response.status === 401;
  } catch {
    return false;
  }
}
