"use client";

import { LogOut } from "lucide-react";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { toast } from "@/components/ui/toasts";

/** Ends the session of this browser and leads to the page where one begins. */
export function SignOut() {
  const [isEnding, setEnding] = useState(false);

  async function signOut() {
    setEnding(true);
    try {
      const response = await fetch("/api/session", {
        method: "DELETE",
        headers: { "content-type": "application/json" },
        body: "{}",
      });
      // A session that has ended by itself is as good as signed out.
      if (!response.ok && response.status !== 401) throw new Error(response.statusText);
      // A whole page load, so that nothing of what the session saw stays in memory.
      window.location.assign("/login");
    } catch {
      setEnding(false);
      toast("Signing out did not work. Is the server running?", { tone: "error" });
    }
  }

  return (
    <Button icon={<LogOut aria-hidden />} pending={isEnding} onClick={() => void signOut()}>
      Sign out
    </Button>
  );
}
