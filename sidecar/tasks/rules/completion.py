"""Judge which commit completed a task that has no condition."""

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from protocol.tasks import Task
from sidecar.tasks.rules.conditions import Change
from sidecar.tasks.rules.likely_ends import READ, subject, without_request
from sidecar.text import patterns
from sidecar.text import words as rules_words
from sidecar.text.patterns import Late, late, words


def _sign(*rows: str) -> Late:
    return late(rf"\b(?:{'|'.join(' '.join(rows).split())})\b".replace("_", r"\s+"), re.IGNORECASE)


UNFINISHED = _sign(
    r"wip work_in_progress draft\w* todo fixme fixup squash prepar\w+ groundwork prerequisite\w* preliminary towards?",
    r"start(?:s|ed|ing)? begin\w* began begun first_\w+ initial(?:ly)? parts?_\w+ partial(?:ly)? partly steps?_\w+ half",
    r"some_of stub\w* skeleton scaffold\w* placeholder\w* spike experiment\w* prototyp\w+ poc proof_of_concept",
    r"try tries tried trying attempt\w* explor\w+ investigat\w+ rfc adr propos\w+ outlin\w+ plan(?:s|ned|ning)? roadmap",
    r"announc\w+ consider\w* discuss\w* ideas? sketch\w* will should would so_(?:that_)?\w+_(?:\w+_)?can in_order_to",
    r"needed_(?:for|by) almost nearly yet still tempor\w+ only later merge[sd]? mock\w* dummy enough_to ready_(?:for|to)",
    r"less more likely rarer mitigat\w+ workarounds? work\w*_around could might for_now rough\w* basic minimal naive crude",
    r"experimental behind configurable helpers? hack\w* quick\w*",
    r"make_way pave\w* lay\w*_the ahead_of towards unblock\w* hints? reproduc\w+ repro reproducer failing flaky typos?",
    r"vorbereit\w* angefangen anfang\w* begonnen beginn\w* entwurf\w* teilweise erste[rsn]?_\w+ versuch\w* noch_nicht",
    r"soll(?:en|te|ten)? nur geplant\w* vorarbeit\w* gerüst",
    r"debut\w* commenc\w+ brouillon ebauch\w+ partiel\w* essai\w* en_cours premier\w*_\w+ seulement prevu\w*",
    r"empez\w+ empiez\w+ borrador parcial\w* intent\w+ primer\w*_\w+ solo solamente pendiente\w* esqueleto",
)
"""What is begun, planned or tried is not done; neither is what is only made possible."""
UNDOING = _sign(
    r"revert\w* undo(?:es|ne|ing)? restor\w+ roll\w*_back rollback back_\w*_?to go(?:es)?_back back_out again reinstat\w+",
    r"ruckgangig zuruck\w* wieder annul\w+ retabli\w+ deshac\w+ deshecho restaur\w+",
)
LEFT_OPEN = _sign(
    r"later follow\w* next yet planned will should would todo still groundwork not_fix refs? needed coming comes_in",
    r"not_in_this out_of_scope no_functional prepar\w+ first_\w+ part_\w+ to_be_done to_come separate\w* soon remain\w* left_out missing wip",
    r"spater folgt noch nachste\w* fehlt plus_tard suivant\w* reste\w* despues falta\w* siguiente\w*",
)
"""What a sentence of a body says that tells of something else than what is done."""
NOTHING_DONE = _sign(
    r"groundwork no_functional_change\w* not_(?:yet_)?(?:fix\w*|wired|used|enabled|done|complete\w*|finished)",
    r"nothing_uses wip work_in_progress (?:first|next)_(?:step|part)\w* in_preparation preparation_for part_\d+",
    r"does_not_fix doesn.t_fix (?:not?|cannot|\w+n.t)\b[^.!?]{0,80}\byet has_yet_to have_yet_to known_limitations?",
    r"still_(?:missing|needs?|to_do|to_be_\w+) noch_(?:nicht|kein\w*) pas_encore todavia_no aun_no",
)
"""What a body says where the whole commit leaves something open."""
REMOVING = _sign(
    r"remov\w+ delet\w+ drop\w* disabl\w+ hid(?:e[sn]?|den|ing) stop\w* reject\w* refus\w+ unpin\w* unset\w* forbid\w*",
    r"deprecat\w+ turn\w*_off switch\w*_off uninstall\w* purg\w+ strip(?:s|ped|ping)? rid discard\w* block(?:s|ed|ing)?",
    r"entfern\w* losch\w* geloscht abschalt\w* abgeschaltet deaktivier\w*",
    r"supprim\w+ suppression retir\w+ desactiv\w+ quit\w+ elimin\w+ borr\w+ deshabilit\w+",
)
DEPRECATING = _sign(r"deprecat\w+")
NEGATING = _sign(
    r"not never no no_longer without cannot can.t don.t doesn.t won.t instead rather nicht kein\w* ohne statt anstelle",
    r"pas sans jamais aucun\w* nunca sin lugar_de lieu_de",
)
TESTING = _sign(
    r"tests? testing tested test_?suite specs? coverage covers? prueba[s]? testet testfall\w*"
)
WITH_TESTS = _sign(
    r"(?:with|and|including|plus|mit|und|avec|et|con|y)_(?:\w+_)?(?:tests?|specs|docs|pruebas)"
)
"""What is done with its tests is done."""
DOCUMENTING = _sign(
    r"docs? documentation document(?:s|ed|ing)? describ\w+ comment(?:s|ed|ing)? explain\w* mention\w* readme manual",
    r"changelog guide\w* tutorial\w* handbook docstrings? dokumentier\w* dokumentation beschreib\w* anleitung",
    r"documenta\w* manuel guia tutoriel\w*",
)
MEASURING = _sign(
    r"log(?:s|ged|ging)? measur\w+ benchmark\w* metrics? profil\w+ trac(?:e[sd]?|ing) instrument\w* monitor\w* messen"
)
TIDYING = _sign(
    r"refactor\w* extract\w* restructur\w+ reorgani\w+ simplif\w+ tid(?:y|ie\w+) clean\w* format\w* reformat\w* inline[sd]?",
    r"reorder\w* lint\w* polish\w* renam\w+ deduplicat\w+ rework\w* factor",
)
USING = _sign(r"us(?:e[sd]?|ing)")
MAKING = _sign(r"add\w* implement\w* introduc\w+ creat\w+ wr(?:ite|itten|ote)\w*")
"""What is used was made before."""
IMPROVING = _sign(
    r"improv\w+ tweak\w* adjust\w* enhanc\w+ extend\w* increas\w+ decreas\w+ rais\w+ lower\w* verbesser\w* amelior\w+ mejor\w+"
)
"""What is made better was there before."""
RISING = _sign(
    r"increas\w+ rais(?:e[sd]?|ing) upgrad\w+ (?:scal|turn|ramp|mov|siz)\w*_up longer higher larger bigger faster",
    r"grow\w* enlarg\w+ expand\w* widen\w* lengthen\w* maximi[sz]\w+ erhoh\w* augment\w+ aument\w+",
)
FALLING = _sign(
    r"decreas\w+ lower(?:s|ed|ing)? downgrad\w+ (?:scal|turn|ramp|mov|siz)\w*_down shorter smaller slower reduc\w+",
    r"shrink\w* shrunk narrow\w* shorten\w* minimi[sz]\w+ senk\w* gesenkt verringer\w* diminu\w+ baiss\w+ disminu\w+",
)
"""What is to go up is not done by what goes down."""
ENTERING = _sign(r"(?:log|sign|zoom|check|opt|fad|swap|clock)\w*_in")
LEAVING = _sign(r"(?:log|sign|zoom|check|opt|fad|swap|clock)\w*_out")
RENAMING = _sign(r"renam\w+ umbenenn\w* renomm\w+ renombr\w+")
UPGRADING = _sign(r"upgrad\w+ bump\w* downgrad\w+ pin(?:s|ned|ning)? unpin\w*")
FIXING = _sign(
    r"fix\w* bugfix hotfix correct(?:s|ed|ing|ion)? repair\w* resolv\w+ solv\w+ mend\w* prevent\w* avoid\w* crash\w* fail\w*",
    r"beheb\w* behoben korrigier\w* repariert? corrig\w+ correg\w+ correction reparer? arregl\w+ leak\w* bug\w* broken lost",
)
ADDING = _sign(
    r"add\w* implement\w* introduc\w+ support\w* creat\w+ allow\w* let lets enabl\w+ provid\w+ make[s]? made can may use[sd]? updat\w+",
    r"using write[s]? wrote written writing handl\w+ hinzu\w* einbau\w* eingebaut einfuhr\w* eingefuhrt erstell\w* wird werden",
    r"ajout\w* anad\w+ agreg\w+ crear? cree permet\w* permit\w*",
)
"""What is said of anything that comes: no more than that it is there."""
JOINING = _sign(r"and und et y both sowie")
BEFORE = _sign(r"before bevor avant antes")
AFTER = _sign(r"after nachdem apres despues")
SMALL = words(
    """
    all also an every each everywhere throughout always now new one own too very when whenever via per its their code base
    der die das den dem des ein eine einen einem einer mit von vom zu zum zur fur und im in auf bei am ist sind wird statt
    le la les l un une des du de d a au aux sur pour par dans et est sont ou en sans
    el los las una del al con por para y es son que lo
    instead rather than longer kb mb gb ms
    """
)
"""Words that say little, beyond those that no search looks for."""


_PREFIX = re.compile(r"\W*(?P<type>[\w/. -]{1,30}?)(?:\((?P<scope>[^)]{1,40})\))?!?:\s+")
_NUMBERED = re.compile(r"\(?(?:\b[Gg][Hh]-|#)\d+\)?|^\W*[A-Z][A-Z0-9]+-\d+\b")
_CHUNK = re.compile(r"\w+(?:[-_./'+]\w+)*")
_PART = re.compile(r"\d+(?:\.\d+)+|[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+|[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_SUFFIX = re.compile(r"(?<=\w{4})(?:li|ung|en|er|em|es|os|as|e|n|s|o|a|i)$")
_PARTICIPLE = re.compile(r"^ge(\w{5,})t$")
"""German: gespeichert, speichern."""
_EXTENSIONS = patterns.words("js ts py rb go rs md json yml yaml css html")
_TYPES = patterns.words(
    "feat feature fix bugfix hotfix docs doc test tests refactor perf chore ci build style i18n a11y ui web"
)
_ASIDE = re.compile(
    r"[,;(\u2013\u2014].*|\b(?:with|by|using|via|through|because|since|after|thanks to|mit|durch|avec|mediante|instead of|rather than"
    r"|statt|au lieu|en lugar)\b.*",
    re.IGNORECASE,
)
"""Where a line goes on with how or why, not with what."""
_PLACE = re.compile(
    r"\b(?:in|for|of|on|at|within|inside|under|to|from|im|in der|bei|fur|dans|pour|sur|en|para|de|del)\s+"
    r"(?:(?:the|a|an|all|our|der|die|das|den|le|la|les|el|los|las)\s+)?([\w.-]+)(?:\s+([\w.-]+))?",
    re.IGNORECASE,
)
_THING = r"\s+(?:(?:the|a|an|our|der|die|das|den|dem|le|la|les|el|los|las)\s+)?([\w.-]+)(?:\s+([\w.-]+))?"
_REACHED = re.compile(
    rf"\b(?:to|into|onto|with|nach|mit|vers|avec|hacia|con){_THING}", re.IGNORECASE
)
_LEFT = re.compile(
    rf"\b(?:from|off(?:\s+of)?|out\s+of|without|von|vom|aus|ohne|depuis|sans|desde|sin){_THING}",
    re.IGNORECASE,
)
_TURNED = re.compile(
    r"(?<![\w.-])([\w.-]+)\s+(?:back\s+)?(?:to|auf|into|nach|vers|->|→)\s+(?:the\s+|in\s+)?([\w.-]+)",
    re.IGNORECASE,
)
_SWAPPED = re.compile(
    r"(?<![\w.-])([\w.-]+)(?:\s+\w+)?\s+(?:instead of|rather than|statt|anstelle von|au lieu de|en lugar de)\s+"
    r"(?:in\s+|mit\s+|the\s+)?([\w.-]+)",
    re.IGNORECASE,
)
_REPLACED = re.compile(r"replac\w+\s+([\w.-]+)\s+(?:with|by)\s+([\w.-]+)", re.IGNORECASE)

_EMOJI = re.compile(r":\w+:")
_GENERAL = (
    *(ADDING, FIXING, REMOVING, UPGRADING),
    *(TESTING, DOCUMENTING, IMPROVING),
)


class Term(Struct, frozen=True):
    """A significant word, however it is spelled."""

    parts: tuple[str, ...]
    """The roots of its parts: `e-mail` has two."""
    forms: frozenset[str]
    """Itself and its neighbours as one word, for those who write it so."""


class Claim(Struct, frozen=True, kw_only=True):
    """What a line asks for or says."""

    text: str
    """The line in plain letters, without what stands before its colon."""
    type: str
    """What stands before its colon."""
    lead: str
    """The root of its first word."""
    terms: tuple[Term, ...]
    """The words that count, those before the colon too."""
    roots: frozenset[str]
    """The roots of all its words."""
    forms: frozenset[str]
    """All its words, and each with the next as one."""
    numbers: frozenset[str]
    turns: frozenset[tuple[str, str]]
    """What becomes what."""
    reached: frozenset[str]
    """What something is brought to, or given."""
    left: frozenset[str]
    """What something is taken away from, or has not."""

    def has(self, term: Term) -> bool:
        """Return whether a word is said here."""
        return self.roots.issuperset(term.parts) or not self.forms.isdisjoint(term.forms)

    def says(self, sign: Late) -> bool:
        """Return whether it contains a sign."""
        return sign.search(f"{self.type}: {self.text}") is not None

    def leads_with(self, sign: Late) -> bool:
        """Return whether it begins with a sign, or is of that type."""
        return any(sign.match(one) is not None for one in (self.type, self.text))


@functools.lru_cache(maxsize=4096)
def read(line: str) -> Claim:
    """Read a line."""
    plain = _NUMBERED.sub(" ", _EMOJI.sub(" ", rules_words.unaccent(line))).strip()
    prefix = _PREFIX.match(plain)
    before = " ".join(filter(None, prefix.group("type", "scope"))) if prefix else ""
    text = plain[prefix.end() :] if prefix else plain
    spoken = list(_spoken(f"{before} {text}"))
    parts = [part for chunk in spoken for part in chunk]
    reached, left = _things(_REACHED, text), _things(_LEFT, text)
    return Claim(
        text=text,
        type=before,
        lead=next((root(chunk[0]) for chunk in _spoken(text)), ""),
        terms=tuple({term.parts: term for term in _terms(spoken)}.values()),
        roots=frozenset(filter(None, map(root, parts))),
        forms=_forms(spoken),
        numbers=frozenset(_NUMBER.findall(text)),
        turns=frozenset(_turns(text)),
        reached=reached - left,
        left=left - reached,
    )


class Extras(Struct, frozen=True):
    """What a line has beyond what is known."""

    count: int
    """How many words."""
    is_confined: bool
    """They confine it to a place."""
    is_head: bool
    """It begins with them: it is about something else, and what is known only tells more of that."""


def added_details(said: Claim, known: Claim) -> Extras:
    """Return what a line adds to what is known, up to where it explains how or why."""
    text = _ASIDE.sub("", said.text)
    terms = list(_terms(list(_spoken(text))))
    new = [term for term in terms if not known.has(term)]
    parts = {part for term in new for part in term.parts}
    places = _things(_PLACE, text)
    is_head = bool(new) and new[0] is terms[0]
    return Extras(len(parts), not parts.isdisjoint(places), is_head)


def has_foreign_scope(said: Claim, known: Claim) -> bool:
    """Return whether a line names a scope that the other lacks."""
    chunks = [chunk for chunk in _spoken(said.type) if "".join(chunk).lower() not in _TYPES]
    return any(not known.has(term) for term in _terms(chunks))


def join(lines: Iterable[str]) -> Claim:
    """Read several lines as one."""
    return read("\n".join(lines))


@functools.lru_cache(maxsize=16_384)
def root(word: str) -> str:
    """Return the stem of a word, for English and roughly for related languages; function words have none."""
    if word.lower() in SMALL:
        return ""
    word = _PARTICIPLE.sub(r"\1", word)
    return _SUFFIX.sub("", _SUFFIX.sub("", next(iter(rules_words.count(word)), "")))


def _spoken(text: str) -> Iterator[list[str]]:
    for chunk in _CHUNK.findall(text):
        parts = _PART.findall(chunk)
        kept = [part for part in parts if part.lower() not in _EXTENSIONS] if parts[1:] else parts
        if kept:
            yield kept


def _terms(spoken: list[list[str]]) -> Iterator[Term]:
    joined = ["".join(chunk).lower() for chunk in spoken]
    for at, chunk in enumerate(spoken):
        roots = tuple(filter(None, map(root, chunk)))
        if roots and not _is_general("".join(chunk)):
            around = joined[max(at - 1, 0) : at + 2]
            pairs = {first + second for first, second in pairwise(around)}
            yield Term(roots, frozenset({joined[at], *pairs} if len(joined[at]) > 1 else pairs))


def _forms(spoken: list[list[str]]) -> frozenset[str]:
    flat = [part.lower() for chunk in spoken for part in chunk]
    joined = ["".join(chunk).lower() for chunk in spoken]
    pairs = (first + second for first, second in pairwise(flat))
    return frozenset((*joined, *pairs))


def _is_general(word: str) -> bool:
    return any(sign.pattern.fullmatch(word) for sign in _GENERAL)


def _things(pattern: "re.Pattern[str]", text: str) -> frozenset[str]:
    found = (word for pair in pattern.findall(text) for word in pair if word)
    return frozenset(filter(None, map(root, found)))


def _turns(text: str) -> Iterator[tuple[str, str]]:
    for pattern in (_TURNED, _REPLACED):
        yield from ((root(old), root(new)) for old, new in pattern.findall(text))
    yield from ((root(old), root(new)) for new, old in _SWAPPED.findall(text))


_FEWEST, _MANY = 2, 4
"""Words without which a title says too little, and with which one of them may be left unsaid."""
_PATHS = 100
"""Paths of a commit that are read."""
_EXTRAS = 2
"""Words that a commit may have beyond those of a task."""
_OPENING = 40
"""Letters of a first line where the number of an issue stands."""
_REFERENCE = re.compile(
    r"(?<!refs )(?<!ref )(?<!see )(?<!after )(?<! of )(?<! to )(?:#|\bGH-|\b[A-Z][A-Z0-9]+-)\d+\b",
    re.IGNORECASE,
)
_CLOSED = re.compile(
    r"(?<!not )(?<!n't )(?<!partially )(?<!partly )\b(?:fix(?:es|ed)|clos(?:e|es|ed)|resolv(?:e|es|ed)|complet(?:e|es|ed)|fix(?= #))"
    r":?\s+(?:issue |task )?((?:#|GH-)\d+|[0-9A-HJKMNP-TV-Z]{26}|[A-Z][A-Z0-9]+-\d+(?=\W*(?:$|\n|and |[,;.)])))\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n{2,}|\n(?=[^\S\n]*[-*•])")
_ITEM = re.compile(r"^[^\S\n]*[-*•][^\S\n]+(\S.*)$", re.MULTILINE)
_BEGINNING = re.compile(r"(?<![^\W_])[^\W_]{3}")
_WORD = re.compile(r"[^\W_]{3,}")
_TESTED = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__)/|(?:^|/)test_|[._-](?:test|spec)s?\.|Tests?\.\w+$"
)
_DESCRIBED = re.compile(
    r"(?:^|/)(?!requirements|constraints|CMakeLists)[^/]*\.(?:md|rst|txt|adoc)$|(?:^|/)docs?/",
    re.IGNORECASE,
)
_OPPOSITES = ((RISING, FALLING), (ENTERING, LEAVING))
_ORDERS = (BEFORE, AFTER)


class _Heard(Struct, frozen=True, kw_only=True):
    """What a title or message says, read once."""

    text: str
    """As much of it as is read."""
    opening: frozenset[str]
    """The numbers of issues that its first line begins with."""
    named: frozenset[str]
    """The numbers of issues in it."""
    closed: frozenset[str]
    """The numbers of issues that it closes."""
    beginnings: frozenset[str]
    """How its words begin."""


def is_done_by(task: Task, commit: Change) -> bool:
    """Return whether a commit says that it does what a task asks for."""
    asked, said = _hear(task.title), _hear(commit.message)
    if said.closed and _closes(asked, said, task.task_id):
        return True
    if asked.opening and said.opening and asked.opening.isdisjoint(said.opening):
        return False
    wanted = _beginnings(asked.text)
    if 2 * len(wanted & said.beginnings) < len(wanted):
        return False
    return _is_done((asked.text, task.description[:READ]), said.text, commit.paths)


@functools.lru_cache(maxsize=4096)
def _hear(text: str) -> _Heard:
    text = text[:READ]
    first = without_request(subject(text))
    return _Heard(
        text=text,
        opening=frozenset(map(_number, _REFERENCE.findall(first[:_OPENING]))),
        named=frozenset(map(_number, _REFERENCE.findall(text))),
        closed=frozenset(map(_number, _CLOSED.findall(text))),
        beginnings=frozenset(_BEGINNING.findall(rules_words.unaccent(text).lower())),
    )


@functools.lru_cache(maxsize=1024)
def _beginnings(title: str) -> frozenset[str]:
    spoken = _WORD.findall(rules_words.unaccent(title))
    return frozenset(word[:3].lower() for word in spoken if root(word))


def _closes(asked: _Heard, said: _Heard, task_id: str) -> bool:
    is_it = task_id in said.closed or not asked.named.isdisjoint(said.closed)
    return is_it and not _is_held_back(subject(said.text), asked.text)


def _number(reference: str) -> str:
    return reference.upper().replace("GH-", "#")


@functools.lru_cache(maxsize=8192)
def _is_done(asked: tuple[str, str], message: str, paths: tuple[str, ...]) -> bool:
    subject, _, body = message.partition("\n")
    title = asked[0]
    if _is_held_back(subject, title) or _holds(NOTHING_DONE, body, title):
        return False
    wanted, said = read(title), read(subject)
    if len(wanted.terms) < _FEWEST:
        return False
    if _agrees(wanted, said, paths) and _is_said(asked, said, (_told(body, title), paths)):
        return True
    return any(_is_named(wanted, read(item)) for item in _items(body, title))


def _is_held_back(subject: str, title: str) -> bool:
    is_open = _holds(UNFINISHED, subject, title) or subject.rstrip().endswith("?")
    return is_open or _holds(UNDOING, subject, title)


def _holds(sign: Late, text: str, title: str) -> bool:
    expected = rules_words.unaccent(title).lower()
    return any(
        one.group().lower() not in expected for one in sign.finditer(rules_words.unaccent(text))
    )


def _agrees(wanted: Claim, said: Claim, paths: tuple[str, ...]) -> bool:
    """Return whether a line is about the same kind of work, in the same direction, with the same numbers."""
    is_same_lead = wanted.lead == said.lead
    return (
        wanted.says(REMOVING) == said.says(REMOVING)
        and wanted.says(DEPRECATING) == said.says(DEPRECATING)
        and wanted.leads_with(UPGRADING) == said.leads_with(UPGRADING)
        and wanted.leads_with(IMPROVING) == said.leads_with(IMPROVING)
        and wanted.leads_with(RENAMING) == said.leads_with(RENAMING)
        and wanted.leads_with(MEASURING) == said.leads_with(MEASURING)
        and (is_same_lead or wanted.leads_with(TIDYING) or not said.leads_with(TIDYING))
        and not (wanted.leads_with(MAKING) and said.leads_with(USING))
        and _is_negated(wanted) >= _is_negated(said)
        and wanted.says(TESTING) == _is_of(said, TESTING, (paths, _TESTED))
        and wanted.says(DOCUMENTING) == _is_of(said, DOCUMENTING, (paths, _DESCRIBED))
        and wanted.turns.isdisjoint((new, old) for old, new in said.turns)
        and not _is_opposed(wanted, said)
        and _is_in_order(wanted, said)
    )


def _is_opposed(wanted: Claim, said: Claim) -> bool:
    is_turned = any(_way(wanted, pair) * _way(said, pair) < 0 for pair in _OPPOSITES)
    is_away = not (wanted.reached.isdisjoint(said.left) and wanted.left.isdisjoint(said.reached))
    return is_turned or (is_away and wanted.lead in said.roots)


def _way(claim: Claim, pair: tuple[Late, Late]) -> int:
    first, other = pair
    return claim.says(first) - claim.says(other)


def _is_in_order(wanted: Claim, said: Claim) -> bool:
    asked, told = _way(wanted, _ORDERS), _way(said, _ORDERS)
    if not asked or not told:
        return True
    place = _ORDERS[told < 0].search(said.text)
    begin = said.text[: place.start()] if place else ""
    return read(f"{said.type}: {begin}").has(wanted.terms[0]) == (asked == told)


def _is_negated(claim: Claim) -> bool:
    return claim.says(NEGATING) or claim.says(FIXING)


def _is_of(said: Claim, sign: Late, place: tuple[tuple[str, ...], re.Pattern[str]]) -> bool:
    """Return whether a commit is all about tests, or documents: it says so, or touches nothing else."""
    paths, where = place
    text = WITH_TESTS.sub("", f"{said.type}: {said.text}")
    return bool(sign.search(text)) or (bool(paths) and all(map(where.search, paths)))


def _is_said(asked: tuple[str, str], said: Claim, around: tuple[Claim, tuple[str, ...]]) -> bool:
    """Return whether a commit says what is asked, and no more than that."""
    wanted, known, (body, paths) = read(asked[0]), join(asked), around
    extras = added_details(said, known)
    more = extras.count
    if extras.is_confined or more > _EXTRAS or (more and _is_mended(wanted, said)):
        return False
    if extras.is_head and body.lead != wanted.lead:
        return False
    if not (wanted.numbers <= said.numbers | body.numbers and said.numbers <= known.numbers):
        return False
    unsaid = [term for term in wanted.terms if not said.has(term)]
    if len(wanted.terms) == _FEWEST:
        return not unsaid and more < _EXTRAS
    if _is_another(wanted, unsaid, more) or (more and _does_another(wanted, unsaid, body)):
        return False
    where = join(() if more else paths[:_PATHS])
    missing = [term for term in unsaid if not body.has(term) and not where.has(term)]
    return not missing or (not more and _is_terse(wanted, said, missing))


def _is_mended(wanted: Claim, said: Claim) -> bool:
    """Return whether a commit only fixes what a task asks to create: that existed before."""
    return said.leads_with(FIXING) and not wanted.says(FIXING)


def _is_another(wanted: Claim, unsaid: Sequence[Term], more: int) -> bool:
    things = [term for term in unsaid if term is not wanted.terms[0]]
    return 2 * len(unsaid) > len(wanted.terms) or (more > 1 and bool(things))


def _does_another(wanted: Claim, unsaid: Sequence[Term], body: Claim) -> bool:
    return wanted.terms[0] in unsaid and body.lead != wanted.lead


def _is_terse(wanted: Claim, said: Claim, missing: Sequence[Term]) -> bool:
    is_little = len(missing) == 1 and len(wanted.terms) >= _MANY and not wanted.says(JOINING)
    return is_little and not has_foreign_scope(said, wanted)


def _is_named(wanted: Claim, said: Claim) -> bool:
    extras = added_details(said, wanted)
    is_whole = len(wanted.terms) > _FEWEST and all(map(said.has, wanted.terms))
    is_whole &= wanted.numbers == said.numbers
    is_other = extras.is_confined or extras.is_head or extras.count >= _EXTRAS
    return is_whole and not is_other and _agrees(wanted, said, ())


def _items(body: str, title: str) -> list[str]:
    return [] if _holds(LEFT_OPEN, body, title) else _ITEM.findall(body)


def _told(body: str, title: str) -> Claim:
    sentences = (one for one in _SENTENCE.split(body) if not _holds(LEFT_OPEN, one, title))
    return join(sentences)
