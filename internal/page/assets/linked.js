// A link on another site has led here, so the browser has not sent its cookie. If it is
// signed in, the page opens when this page asks for it.
const response = await fetch("/api/caller");
if (response.ok) {
  const to = location.href;
  history.replaceState(null, "", "/launch"); // the same address with a fragment would not be loaded again
  location.replace(to);
}
