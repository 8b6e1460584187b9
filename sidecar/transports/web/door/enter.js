// Exchanges the invitation behind # for a secret and goes in. No server, log or referrer sees what stands behind #.
// The secret stays in this tab: a cookie would be sent to every other port of this machine as well.

const PLACE = "place";
const SECRET = "threadline.secret";
const words = document.getElementById("words");
addEventListener("hashchange", take);
take();

function take() {
  const token = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  if (token) enter(token);
}

async function enter(token) {
  say("Coming in …");
  try {
    const answer = await fetch("/session", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token }),
    });
    if (answer.ok) goIn((await answer.json()).secret);
    else say(explain(answer.status));
  } catch {
    say("The dashboard does not answer. Has it ended? Run `threadline dashboard` again.");
  }
}

/** Open the page that this tab was at before it had to come here. */
function goIn(secret) {
  sessionStorage.setItem(SECRET, secret);
  const place = sessionStorage.getItem(PLACE) ?? "";
  sessionStorage.removeItem(PLACE);
  location.replace(`/${place}`);
}

function explain(status) {
  if (status === 429) return "Too many attempts. Wait a little, and open the address again.";
  return "This address was used already, or is too old. Press Enter in the terminal of `threadline dashboard` for a new one.";
}

/** Show a sentence; what stands between backticks is a command. */
function say(sentence) {
  const pieces = sentence.split("`").map((text, place) => {
    if (place % 2 === 0) return text;
    return Object.assign(document.createElement("code"), { textContent: text });
  });
  words.replaceChildren(...pieces);
}
