// Exchanges the launch code in the fragment for a cookie, and removes it from the
// history of the browser.
const code = location.hash.slice(1);
history.replaceState(null, "", location.pathname);
const response = await fetch("launch", {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ code }),
});
document.querySelector("[role=status]").textContent = response.ok
  ? "This browser is signed in. You can close this page."
  : "The launch code is unknown, was used, or is older than a minute.";
