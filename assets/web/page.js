// The only script of the page's own; the policy allows none inside the page.
window.addEventListener("DOMContentLoaded", () => {
  document.querySelector("#again").addEventListener("click", () => window.location.reload());

  // Keys go to the app without a click first, once it has drawn something.
  const focus = () => document.querySelector(".xterm-helper-textarea")?.focus();
  const seen = new MutationObserver(() => {
    if (document.body.classList.contains("-first-byte")) {
      seen.disconnect();
      focus();
    }
  });
  seen.observe(document.body, { attributes: true, attributeFilter: ["class"] });
  window.addEventListener("focus", focus);
});
