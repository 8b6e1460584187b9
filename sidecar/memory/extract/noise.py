"""What is no memory: machines' commits, merges, status that passes, small talk, questions."""

import re
from functools import lru_cache

from protocol.events import Commit
from sidecar.text.patterns import late, table, words

# ruff: noqa: RUF001 - other scripts have letters that look like ours


_BOT = late(
    r"\[bot\]|\bbot@|dependabot|renovate|pre-commit(?:[-.]?ci)?\b.*(?:ci|bot)|github-actions|greenkeeper|snyk-bot|mergify|weblate|allcontributors|semantic-release",
    re.IGNORECASE,
)
_MACHINE = late(
    r"\W*\[?pre-commit\.ci\]?|.{0,60}\bpre-commit autoupdate\b|.{0,40}\bupdate dependency \S+ to\b|.{0,40}\block file maintenance\b"
    r"|.{0,60}\b(?:bump|upgrade|update)s? .{1,100} from v?\d[\w.+-]* to v?\d|.{0,40}\bbump the .{1,60} group\b|.{0,40}\bscheduled (?:weekly|monthly|daily)\b"
    r"|\W*update (?:release notes|fastapi people|contributors|translators|sponsors|topic repos)\b",
    re.IGNORECASE,
)
_MERGE = late(
    r"merge[ds]?\b.{0,40}\b(?:branch|pull request|remote|tag|commit|into|from|master|main|#\d+)\b|merge$|合并分支|合并|マージ|zusammenführ",
    re.IGNORECASE,
)
_UPKEEP = late(
    r"(?:\W*(?:fixup!|squash!|amend!)"
    r"|\W*(?:wip|tmp|temp|oops|ops|typos?|nits?|minor|misc|cleanup|clean up|clean-up|polish|tweaks?|lint(?:ing)?|format(?:ting)?|flake8|black|isort|ruff|mypy|prettier|whitespace|style|test|tests|fix|fixes|update|updates|changes|stuff|\.+)\W*$"
    r"|\W*(?:wip|work in progress|minor|yay|prepare v?\d[\w.]*)\b"
    r"|\W*(?:bump(?:ed|s)?|set|update[ds]?|prep(?:are|ared|aring)?|start(?:ed|ing)?|begin|back to|post|finali[sz]ed?|tag(?:ged)?|cut|publish(?:ed)?|new)\b.{0,30}\b(?:versions?|release|dev(?:elopment)?|next)\b(?!.{0,40}\b(?:because|check|support)\b)"
    r"|\W*(?:bump(?:ed|s)?|upgrade[ds]?|pin(?:ned|s)?|unpin)\b.{0,50}(?:\bto\b)?.{0,5}v?\d+(?:\.\d+)*\W*$"
    r"|\W*(?:release[ds]?\W+)?(?:version )?v?\d+\.\d+[\w.+-]*\W*(?:release|\(.{0,30}\))?$"
    r"|\W*(?:release[ds]?|releasing)\b.{0,20}\d"
    r"|\W*(?:run|apply|appl(?:y|ied)|auto|re)?-?\s?(?:format(?:ted|ting)?|black(?:en(?:ed)?)?|isort(?:ed)?|lint(?:ed)?|prettier|reformat(?:ted)?)\b.{0,30}$"
    r"|\W*(?:fix(?:e[ds])?|correct(?:e[ds])?)\b.{0,30}\b(?:typos?|whitespace|indent(?:ation)?|formatting|lint(?:er)?|flake8|pep ?8|spelling|grammar|style|line length|isort|ci|tests?|build|docs build|warnings?|mypy|changelog)\W*(?:in|of|on|issues?|errors?|again|failures?)?\b.{0,40}$"
    r"|\W*(?:add(?:ed)?|update[ds]?|fix(?:e[ds])?|edit(?:ed)?|tweak(?:ed)?|improve[ds]?|more|mention)\b.{0,25}\b(?:changelog|readme|release notes?|news(?:fragment| fragment)?|authors|contributors|stub release notes|copyright|badges?|backers|sponsors)\b.{0,30}$"
    r"|\W*(?:sort(?:ed|s)?|organi[sz]e[ds]?|reorder(?:ed)?|tidy|remove[ds]?|strip(?:ped)?|normali[sz]e[ds]?|fix(?:e[ds])?|convert(?:ed)?|add(?:ed)?)\b.{0,20}\b(?:imports|trailing (?:whitespaces?|spaces|commas?|newlines?)|whitespaces?|unused imports?|line endings?|blank lines?|missing newlines?|indentation|tabs to spaces|semicolons|newline at (?:the )?end.{0,20})\W*$"
    r"|\W*(?:address(?:e[ds])?|apply|applied|incorporat\w+)\b.{0,30}\b(?:feedback|comments?|reviews?|suggestions?|nits)\b|\W*[\w-]+ fixe?s?\W*$|\W*make .{2,30} happy|\W*(?:add|set|update)(?:e?d|s)? release dates?\b|\W*made cosmetic edits\b"
    r"|\W*(?:initial commit|first commit|init)\W*$"
    r"|\W*(?:bump|update|upgrade)[ds]?\s+(?:\S+\s+)?(?:deps|dependenc(?:y|ies)|requirements|lock ?file|pre-commit\S*|submodules?|hooks|actions|packages?)\b)",
    re.IGNORECASE,
)
_PASSING = table(
    (
        "building|checking|compiling|debugging|deploying|installing|investigatin|looking|pulling|pushing|reading|running|starting|testing|trying|waiting|working",
        r"(?:running|waiting|checking|looking|starting|working|trying|installing|building|compiling|testing|pushing|pulling|investigating|reading|debugging|deploying)\b(?! (?:out|around|with) )",
    ),
    (
        "at|back|here|in|off|on",
        r"(?:i(?:'m| am)|we(?:'re| are))\s+(?:now\s+|currently\s+|still\s+)?(?:\w+ing|done|at|on|in|back|here|off|going)\b(?<!using)(?<!keeping)(?<!dropping)(?<!switching)(?<!moving)(?<!staying)(?<!sticking)(?! (?:with|to (?:use|go with|keep|adopt|switch)))",
    ),
    (
        "committed|completed|cool|danke|deployed|done|erledigt|fertig|finished|fixed|good |got |gracias|great|hello|hey|hi|hm|lgtm|listo|merci|merged|never|nice|no|obrigad|ok|perfect|pronto|pushed|ready|sounds |sure|thank |thanks|thx|ugh|well|will |worked|works|wow|yay|yep|yes",
        r"(?:done|finished|fixed|pushed|merged|deployed|committed|completed|works|worked|ready|ok(?:ay)?|yes|no|yep|nope|sure|great|nice|perfect|cool|thanks|thank you|thx|hi|hello|hey|good (?:morning|night|job)|lgtm|sounds good|got it|will do|never ?mind|hmm+|wow|yay|ugh|well|voilà|fertig|erledigt|danke|listo|gracias|merci|terminé|pronto|obrigad[oa]|完成|好的|谢谢|完了|了解)\b[\s!.,:…)🎉-]*(?:\b(?:now|then|it|you|all|for now|so much|again|everyone|guys|team|that works|with (?:it|this|that)|again)\b[\s!.]*)*$",
    ),
    (
        " going | ll| will|let |next|now ",
        r"(?:let me|i'll|i will|i am going to|i'm going to|now i|next,? i(?! want| need| have| plan)|now let me|now let's)\b(?!.*\b(?:tomorrow|next week|on monday)\b)(?! (?:use|go with|keep using|adopt))",
    ),
)
"""Sentences that begin so are about the moment, or about nothing."""
_STATUS = table(
    (
        "all|build|check|ci|everything|lint|mypy|pipeline|suite|test",
        r"\b(?:ci|build|pipeline|tests?|lint|mypy|everything|all(?: tests| checks)?|checks?|suite)\b.{0,25}\b(?:is|are|now|all|still)?\s?\b(?:green|red|pass(?:es|ed|ing)?|fail(?:s|ed|ing)?|running|clean|ok|okay|happy|broken|done)\b",
    ),
    (
        " moment| progress|brb|coffee|currently |eta|hang |hold |just |lunch|one |right |taking ",
        r"\b(?:right now|at the moment|currently (?:running|working|waiting|testing|looking|debugging|building|deploying)|in progress|just (?:pushed|committed|finished|started|ran|merged|deployed|tested)|brb|one sec|hang on|hold on|be right back|taking a break|lunch|coffee|eta)\b",
    ),
    (
        "laufen|pasan|passam|passent|rot|verde",
        r"\b(?:tests?|suite|build|ci|pipeline)\b.{0,20}(?:laufen|läuft|grün|rot|en verde|pasan|passent|passam|verde|通过|成功|失败|グリーン)",
    ),
    (
        " afternoon| morning|failed|onight|passed",
        r"\b\d+ (?:tests? )?(?:passed|failed)\b|\b(?:tonight|this morning|this afternoon)\b",
    ),
)
_HEDGED = table(
    (
        " doute| sure|apparently|assume|believe|could|did|guess|had|hope|hypothetical|imagine|let |likely|looks |maybe|might|moved|perhaps|possibly|probably|provavelment|say |seem|suppose|switched|tal |talvez|think|unsure|used|vielleicht|wahrscheinli|were|what |wonder|would ",
        r"\b(?:might|maybe|perhaps|probably|possibly|likely|not sure|unsure|i (?:think|guess|suppose|believe|wonder|could(?! not)|hope)|could be|seems?|looks like|apparently|would be nice|vielleicht|wahrscheinlich|peut-être|sans doute|quizás?|tal vez|talvez|provavelmente|what if|hypothetical\w*|if we (?:used|had|were|did|moved|switched))\b|^(?:imagine|suppose|assume|let's say|say we)\b|可能|也许|大概|かもしれ|たぶん|おそらく",
    ),
)
_QUESTION = late(
    r"[?？]\W*$|^(?:can|could|would|will|should|shall|do|does|did|is|are|was|were|has|have|what|why|how|when|where|who|which|any(?:one|body)?)\b(?=.{0,200}\b(?:you|we|i|it|this|that|there)\b.{0,200}\?)",
    re.IGNORECASE,
)


def is_bot(commit: Commit) -> bool:
    """Return whether a program is the author."""
    return _is_bot(f"{commit.author_name[:200]} {commit.author_email[:200]}")


@lru_cache(maxsize=500)
def _is_bot(author: str) -> bool:
    return _BOT.search(author) is not None


def is_machine(commit: Commit) -> bool:
    """Return whether a program wrote the message, whoever signed it."""
    return is_bot(commit) or _MACHINE.match(commit.subject) is not None


def is_merge(commit: Commit) -> bool:
    """Return whether a commit only brings others together."""
    return len(commit.parents) > 1 or _MERGE.match(commit.subject) is not None


def is_upkeep(headline: str) -> bool:
    """Return whether a subject speaks of versions, layout or nothing at all."""
    return len(headline) < _WORDLESS or _UPKEEP.match(headline) is not None


def is_transient(text: str) -> bool:
    """Return whether a statement is true for a moment only, or says nothing."""
    is_status = not _CONDITION.match(text) and _STATUS.search(text)
    return bool(_PASSING.match(text) or is_status)


def is_idle(text: str) -> bool:
    """Return whether a statement passes, asks or only guesses."""
    return is_transient(text) or is_question(text) or is_hedged(text)


def is_cut(text: str) -> bool:
    """Return whether a statement ends before its end, because code or a link stood there."""
    return text.rpartition(" ")[2] in _UNENDED


def is_hedged(text: str) -> bool:
    """Return whether a statement is a guess."""
    return _HEDGED.search(text) is not None


def is_question(text: str) -> bool:
    """Return whether a statement asks."""
    is_asked = ("?" in text or "？" in text) and _QUESTION.search(text)
    return bool(is_asked) and not _OPEN.match(text) and not _WISHED.match(text)


_OPEN = late(r"(?:unresolved|todo|next|(?:still )?open(?: questions?)?)\s?:", re.IGNORECASE)
"""A question behind this name is a task."""
_WISHED = late(
    r"(?:could|can|would|will) you (?:please )?(?:always|never|from now on)\b", re.IGNORECASE
)
"""A wish that is asked politely."""
_CONDITION = late(r"(?:if|when|whenever|unless|to|for|how)\b", re.IGNORECASE)
_UNENDED = words("the a an of to for in on with and or by as from see that is are at than when if")
_WORDLESS = 4
"""Letters below which a subject says nothing."""
