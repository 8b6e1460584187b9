"""Sayings: how people decide, forbid, correct and leave things in talk, beyond what they write in commits.

Tables of patterns as those of enrichment's `phrases`: a row has the signs of what is said so, and how it is said.
"""

from protocol.memories import MemoryType
from sidecar.text.patterns import compiled, table

# ruff: noqa: RUF001 - other scripts have letters that look like ours


Rows = tuple[tuple[MemoryType, str, str], ...]
"""A type, the signs of what is said so (see `patterns`), and how it is said from the beginning of a sentence."""

_USERS: Rows = (
    (
        "correction",
        "misunderst|misread|wrong|mistaken|incorrect|false|right|true|correct",
        r"(?:no[,.]? )?(?:you (?:misunderst\w+|misread|(?:got|have) (?:it|that|this) wrong|(?:are|were) (?:wrong|mistaken))|(?:that|this)(?:'s| is| was) (?:wrong|incorrect|false|not (?:right|true|correct)))\b[^.:;—–]{0,60}[:;,.—–-]\s*\S.{8,}",
    ),
    (
        "correction",
        "falsch|stimmt|faux|cierto|correcto|errado|certo| mal ",
        r"(?:nein, )?das (?:stimmt (?:so )?nicht|ist (?:so )?falsch)\b.{0,40}[:;,—–-]\s*\S.{8,}|(?:non, )?c'est (?:faux|incorrect)\b.{0,40}[:;,—–-]\s*\S.{8,}|(?:no, )?eso (?:no es (?:cierto|correcto|así)|está mal)\b.{0,40}[:;,—–-]\s*\S.{8,}|(?:não, )?isso (?:está errado|não está certo)\b.{0,40}[:;,—–-]\s*\S.{8,}",
    ),
    (
        "correction",
        "again|once| said | told ",
        r"(?:again|once more|as i said|like i said|i(?:'ve| have)? (?:already )?told you)[,:]? (?!the same|please run|it fails).{12,}",
    ),
    (
        "correction",
        " not ",
        r"(?!.*\b(?:should|must|has to|have to)\b)(?:it's|it is|that's|this is|they're|they are|its|the|our)\s.{3,120}, not (?!yet|only|just|sure|to mention|really|even|least|that|so|until|because)\S.{1,100}$",
    ),
    (
        "preference",
        " use ",
        r"(?:please |pls )?use (?!it\b|this\b|that\b|(?:rip)?grep\b|rg\b|git (?:log|blame|bisect|diff)\b|the (?:search|debugger|terminal|browser)\b)(?!.*\bto (?:find|look|search|check|see|list|inspect|figure|debug|show|count)\b)\S.{6,}",
    ),
    (
        "preference",
        " stop ",
        r"(?:please |pls )?stop (?:adding|using|writing|putting|creating|making|doing|asking|touching|changing|removing|committing|generating|wrapping|importing|mocking)\b.{4,}",
    ),
    (
        "preference",
        " write | name | put | format | sort | group | order | spell | start | begin | end | wrap | indent | phrase | word | structure | split ",
        r"(?:please )?(?:write|name|put|format|sort|group|order|spell|start|begin|end|wrap|indent|phrase|word|structure|split) (?:(?:the|your|our|all|every|each|new|any) )?(?:test(?: name)?|commit(?: message| subject)?|message|function|method|variable|constant|class|type|import|comment|docstring|name|file|module|error(?: message)?|log(?: line)?|branch(?: name)?|title|heading|answer|summary|pull request|pr|migration|sentence|label|number|date|string)(?:e?s|ies)?\b(?! for\b).{6,}",
    ),
    (
        "preference",
        " please | pls | bitte |less|fewer|more",
        r"(?:shorter|longer|fewer|more|less|smaller|simpler|plain|british|american|only|just) .{3,80}\b(?:please|pls|bitte)\W*$|(?:less|fewer|more) .{3,40}, (?:more|less|fewer) .{3,}",
    ),
    ("preference", " per ", r"one .{3,30} per \w+\b.*"),
    (
        "preference",
        " time | future | forward | rule | general|possible",
        r"(?:next time|in (?:the )?future|going forward|as a rule|in general|generally|whenever possible|where possible)[,:]? .{8,}|.{8,} (?:next time|in (?:the )?future|going forward|as a rule)\W*$",
    ),
    (
        "preference",
        "nicer|easier|cleaner|clearer| be | like | tend |usually|normally|typically|mostly| how ",
        r"it(?:'s| is) (?:much |far |way )?(?:nicer|easier to (?:read|review|follow)|cleaner|clearer) (?:to|when|if|with)\b.{6,}|(?:please )?be (?:more )?(?:brief|concise|terse|explicit|consistent|strict|conservative|precise)\b.{3,}|we (?:like|tend|usually|normally|typically|mostly) .{8,}|that['’]?s how we\b.{4,}",
    ),
    (
        "preference",
        " fan |against|allergic|tired| me ",
        r"i(?:'m| am) (?:not )?(?:a (?:big |huge )?fan of|against|allergic to|tired of)\b.{4,}|(?:please |always )?(?:ask|check with|tell|show|warn) me (?:first |always )?(?:before|first|if|when|whenever)\b.{4,}",
    ),
    (
        "preference",
        " want ",
        r"(?:i|we) (?:do not|don't|don’t|never) want (?!to (?:wait|go|bother|know|see|spend|talk|do|think|be)\b)\S.{6,}",
    ),
    (
        "preference",
        " wir |bitte",
        r".{3,60}\bwir (?:\w+ )?(?:immer|nie|niemals|stets)\b.{4,}|wir \w+ (?:immer|nie|niemals|stets)\b.{4,}|.{2,60}\bbitte (?:immer|nie|niemals|nur|nicht|keine?n?)\b.{4,}|bitte (?:keine?n?|nur|verwende|benutze|nutze)\b.{6,}",
    ),
    (
        "preference",
        " usa|utili| use ",
        r"(?:por favor,? )?(?:usa|utiliza|use)\s.{3,80}\b(?:en (?:lugar|vez) de|siempre|para)\b.{2,}|(?:s'il (?:te|vous) plaît,? )?(?:utilise|utilisez)\s.{3,80}\b(?:au lieu|plutôt|toujours|pour)\b.{2,}",
    ),
    (
        "constraint",
        " leave | hands | keep ",
        (
            r"(?:please )?leave (?!it\b|that\b|this\b|me\b).{2,60} (?:alone|untouched|unchanged|as (?:it|they) (?:is|are))\b|hands off .{3,}"
            r"|(?:please )?keep (?!going|it up|at it|trying|working|me\b|in mind|an eye|reading|up\b|on\b|it\b|that\b|this\b|digging|looking|in touch|calm)\w.{10,}"
        ),
    ),
    (
        "constraint",
        " than ",
        r".{6,}\b(?:nothing|no \w+|not|none) (?:newer|older|bigger|larger|smaller|longer|later|earlier|higher|lower) than \S",
    ),
    (
        "constraint",
        " don | not | never | always | no ",
        r".{4,120}[,;—–] (?:please |and |so )?(?:don't|don’t|do not|never|always|no) (?!idea|problem|worries|need|matter|one\b|longer|know|think|remember|see\b|get\b|understand|care|mind|luck|clue|doubt|wonder|\w+ed\b)\w+",
    ),
    (
        "constraint",
        "promised|guaranteed|committed| can | cannot | may ",
        r"(?:.{0,60}\b)?we(?:'ve| have)? (?:promised|guaranteed|committed (?:ourselves )?to)\b.{8,}|we (?:can't|can’t|cannot|can not|may not) (?!reproduce|find|see|tell|say|merge|know|figure|get|log|connect|wait|start|test|really|just|do)\w+ .{6,}",
    ),
    (
        "constraint",
        " need| must | have | has | requires| require ",
        r"(?:every|each|any|all|no) .{3,60}\b(?:needs?|must|has to|have to|requires?)\b.{3,}|we (?:have|need) to (?:stay|keep|support|remain|comply|work|run|be able)\b.{4,}",
    ),
    (
        "constraint",
        " should ",
        r"(?!it\b|this\b|that\b|everything\b|which\b|there\b|i\b|you\b|what\b|if\b|tests?\b|we\b).{3,60}\bshould (?!work|pass|be (?:enough|fine|ok|okay|good|fixed|easy|done|there|possible|able|working|ready|green)\b|i\b|we\b|have\b|help|now)\w+.{3,}",
    ),
    (
        "constraint",
        "podemos| peut | wir | ne |modifiques|borres|cambies|elimines|guardes|edites|rompas|instales|mezcles|ejecutes",
        (
            r"(?:não|no) podemos\s.{6,}|on ne peut pas\s.{6,}|wir (?:dürfen|können) .{3,80}\b(?:nicht|keine?n?)\b"
            r"|(?:por favor,? )?no (?:modifiques|borres|cambies|elimines|guardes|añadas|edites|rompas|instales|mezcles|ejecutes)\s.{4,}|(?:s'il te plaît,? )?ne (?:touch|modifi|chang|supprim|utilis|committ)\w+ (?:pas|jamais|rien|plus)\b.{4,}"
        ),
    ),
    (
        "constraint",
        "-",
        r".{4,}(?:ないで(?:ください|下さい)|しないこと)|(?:请)?(?:不要|别)\S.{3,}",
    ),
    (
        "task",
        " list | do | todo |backlog|board|afterwards|after | once | when ",
        r"(?:please )?(?:put|add|note) .{3,80} (?:on|to) (?:the|our|my|your) (?:list|to-?do(?: list)?|backlog|board)\b|(?:afterwards|after that|once (?:that|this) is (?:done|in|merged)|when (?:that|this) is (?:done|in)),? (?:we|you|please|let's)\b.{8,}",
    ),
    (
        "fact",
        " turns | turned |deadline|freeze| live |launch|release",
        r"(?:it )?turn(?:s|ed) out\b.{12,}|(?:the |our )?(?:deadline|code freeze|feature freeze|go-live|launch|release date)\b.{0,30}\b(?:is|was moved|moved|on|at|by)\b.{3,}",
    ),
    (
        "decision",
        "option|variant|approach|plan |opc",
        r"(?:(?:let's|let us) (?:do|take|use) |i'd (?:take|go with|say) |go (?:with|for) |take )?(?:option|variant|approach|plan|variante|opción|opção) (?:[a-e]|\d)\b(?=,? ?(?:please|it is|then|sounds|is (?:fine|good|better|it)|but\b|with\b|bitte|\.|!|$))",
    ),
    (
        "decision",
        "final|verdict|conclusion|settled",
        r"(?:final (?:answer|call|word)|verdict|conclusion|settled)\s?[:,—–-]\s*\S.{8,}",
    ),
    (
        "decision",
        "moved|switched|migrated|stay|remain",
        (
            r"we(?:'ve| have)? (?:now |already )?(?:moved|switched|migrated) (?:on |over |away |everything )?(?:from|to|off)\b.{4,}"
            r"|(?!it\b|that\b|this\b|what\b|if\b|the (?:error|bug|problem|page|issue)\b).{2,40}\b(?:stays?|remains?) (?!open|to be|unresolved|here|tuned|calm|broken|red|the same|blank|empty|stuck)\w+.{3,}"
            r"|(?!that\b|this\b|it\b|everything\b)[\w.-]+(?: [\w.-]+)? stays(?: (?:as (?:it )?is|where it is|for now))?[.!]?$"
        ),
    ),
    (
        "decision",
        " not ",
        r"we(?:'re| are| will)? not (?:going to|gonna|doing|rewriting|supporting|shipping|migrating|switching|moving)\b.{6,}",
    ),
)
"""What users say that commits do not."""
_HEADINGS: tuple[tuple[MemoryType, str], ...] = (
    (
        "decision",
        r"(?:.{0,40}\b)?(?:decided|agreed|decisions?|agreements?|entscheidungen|entschieden|vereinbart|décisions?|decisiones|decisões)\b.{0,20}",
    ),
    (
        "task",
        r"(?:still |noch )?(?:open|remaining|left|todos?|to[- ]dos?|next steps?|pending|follow-?ups?|outstanding|not (?:yet )?(?:done|started)|missing|offen(?:e \w+)?|verbleibend|pendientes?|restant)\b.{0,30}|what(?:'s| is) (?:still )?(?:left|open|missing)\b.{0,20}",
    ),
    (
        "constraint",
        r"(?:hard |the |our )?(?:constraints?|rules|invariants|limits|restrictions)\b.{0,20}",
    ),
    ("preference", r"(?:your |user |the |our )?(?:preferences|conventions|style)\b.{0,20}"),
)
SAID = tuple((kind, table((signs, row))) for kind, signs, row in _USERS)
HEADED = tuple((kind, compiled(row)) for kind, row in _HEADINGS)
SUPPOSED = table(
    (
        "theor|ideal|eventually|someday| one |some |hypothetical",
        r"^(?:in theory|theoretically|ideally|eventually|someday|one day|at some point|hypothetically)\b",
    ),
    (" could ", r"\b(?:we|you|one) could\b(?! not|n't)"),
    (
        " ll | will ",
        r"^i(?:'ll| will)\b(?! (?:never|always|only|not|go with|take|pick|stick|keep|use)\b)",
    ),
    (
        "theoretisch|irgendwann|pourrait",
        r"\b(?:theoretisch|irgendwann|könnten|pourrait|podríamos|poderíamos)\b",
    ),
)
"""What may be some day, and what a user will see to alone."""
