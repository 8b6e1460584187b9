// Shows the token at the door and goes in; it stands behind #, which no server, log or referrer sees.

const words = document.getElementById("words");
const token = location.hash.slice(1);
history.replaceState(null, "", location.pathname);
if (token) enter(token);

async function enter(token) {
  words.textContent = "Coming in …";
  try {
    const answer = await fetch("/session", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token }),
    });
    if (answer.ok) location.replace("/");
    else words.textContent = explain(answer.status);
  } catch {
    words.textContent = "The dashboard does not answer. Has it ended? Run `threadline dashboard` again.";
  }
}

function explain(status) {
  if (status === 429) return "Too many attempts. Wait a little, and open the address again.";
  return "This address was used already, or is too old. Press Enter in the terminal of `threadline dashboard` for a new one.";
}
