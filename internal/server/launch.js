// Exchanges the launch code, or the token of a spectator, in the fragment for a cookie, and
// removes it from the history of the browser. A code may be followed by the path to open.
const [secret, ...path] = location.hash.slice(1).split("/");
history.replaceState(null, "", location.pathname);
const response = await fetch("launch", {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(secret.startsWith("moot_") ? { token: secret } : { code: secret }),
});
const status = document.querySelector("[role=status]");
if (response.ok) {
  const { room } = await response.json();
  status.textContent = "This browser is signed in.";
  location.replace(room ? `/rooms/${encodeURIComponent(room)}` : `/${path.join("/")}`);
} else {
  status.textContent = secret.startsWith("moot_")
    ? "This link is unknown, was revoked, or has expired."
    : "The launch code is unknown, was used, or is older than a minute.";
}
