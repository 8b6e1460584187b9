// Shows the token at the door and goes in; it stands behind #, which no server, log or referrer sees. Elsewhere what
// stands there is a place in the pages, to which whoever comes in later is brought back.

const PLACE = "place";
const words = document.getElementById("words");
if (location.pathname === "/enter") {
  addEventListener("hashchange", take);
  take();
} else if (location.hash) sessionStorage.setItem(PLACE, location.hash);

function take() {
  const token = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  if (token) enter(token);
}

async function enter(token) {
  words.textContent = "Coming in …";
  try {
    const answer = await fetch("/session", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token }),
    });
    if (answer.ok) goIn();
    else words.textContent = explain(answer.status);
  } catch {
    words.textContent = "The dashboard does not answer. Has it ended? Run `threadline dashboard` again.";
  }
}

function goIn() {
  const place = sessionStorage.getItem(PLACE) ?? "";
  sessionStorage.removeItem(PLACE);
  location.replace(`/${place}`);
}

function explain(status) {
  if (status === 429) return "Too many attempts. Wait a little, and open the address again.";
  return "This address was used already, or is too old. Press Enter in the terminal of `threadline dashboard` for a new one.";
}
