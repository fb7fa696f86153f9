// The only script of the page's own; the policy allows none inside the page.
window.addEventListener("DOMContentLoaded", () => {
  document.querySelector("#again").addEventListener("click", () => window.location.reload());
});
