// Sets the theme before the first paint. A file of its own, so that no page needs an inline script.
(() => {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    let chosen = null;
    try {
      chosen = localStorage.getItem("troupe.theme");
    } catch {
      // Storage is closed to us: the system's theme it is.
    }
    const dark = chosen === "dark" || (chosen !== "light" && system.matches);
    document.documentElement.dataset.theme = dark ? "dark" : "light";
  };
  apply();
  system.addEventListener("change", apply);
  window.addEventListener("storage", apply);
  window.addEventListener("troupe:theme", apply);
})();
