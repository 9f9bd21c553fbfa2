// Light or dark. Runs before the page is painted; the default is the system's setting.
(() => {
  const root = document.documentElement;
  const key = "penstock.theme";
  const stored = () => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null; // storage may be forbidden
    }
  };
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const current = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  const changed = () => document.dispatchEvent(new CustomEvent("theme"));

  if (stored() === "light" || stored() === "dark") root.dataset.theme = stored();
  dark.addEventListener("change", changed);
  window.penstockTheme = {
    current,
    toggle() {
      root.dataset.theme = current() === "dark" ? "light" : "dark";
      try {
        localStorage.setItem(key, root.dataset.theme);
      } catch {
        // not stored: it lasts until the page is closed
      }
      changed();
    },
  };
})();
