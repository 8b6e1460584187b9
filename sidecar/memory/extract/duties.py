"""Duties: how people say that something must be, must not be, is on its way out or is left to do.

Tables of patterns in seven languages, as those of `phrases`.
"""

from sidecar.text.patterns import table

# ruff: noqa: RUF001 - other scripts have letters that look like ours


MUST = table(
    (
        "must|shall",
        r"\b(?:must|shall)(?: (?:not|never|always|only|be|have|use|run|stay|keep|remain|match|go|come|include|pass|return|support|contain|call|start|end|work|set|happen|\w+))\b|\bmustn't\b",
    ),
    (
        " may | never | only |allowed|ase|ircumstances|meant |permitted|supposed ",
        r"\b(?:should|may) never\b|\bmay only\b|(?<!which )(?<!that )\b(?:is|are) (?:never|not|no longer|only) (?:allowed|permitted|meant to|supposed to)\b|\b(?:under|in) no (?:circumstances|case)\b|\bmay not\b(?! (?:have|be (?:able|called|available|present|set|defined|the|a|an|what|in)\b|exist|work|always|yet|contain|match|need|see|know|want|even))",
    ),
    (
        " not|don |must |never|will |won ",
        r"(?:,|;|:| and| but) never (?!the|\w+ed\b|gave|got|took|came|went|had|was|were|saw|ran|made|sent|said|did|knew|set\b)\w+|\bwe (?:don't|do not|never|won't|will not|must not) (?:want|use|allow|accept|store|log|support|commit|ship|write|call|trust|mock|touch|expose|put)\b",
    ),
    (
        " ha| need",
        r"(?<!we )(?<!i )(?<!you )(?<!not )(?<!n't )(?<!would )(?<!might )(?<!could )(?<!may )\b(?:has|have) to (?:be|stay|hold|come|run|go|use|remain|match|happen|keep|take|call|live|fit|survive|agree|support)\b|\bneeds? to (?:stay|remain|hold|keep|match|come (?:before|after|first))\b",
    ),
    (
        " only|can |cannot|may ",
        r"\b(?:you|one|clients?|callers?|handlers?|plugins?|users?|nobody|no one) (?:can't|cannot|can not|may not|may only) (?:be |ever )?\w+",
    ),
    ("can|may|should", r"\b(?:nobody|no one|none) (?:may|can|should)\b"),
    (" not|always|don |never", r"[:;—–] (?:please )?(?:do not|don't|never|always) \w+"),
    (
        " law| reasons|required ",
        r"\b(?:for (?:security|compliance|legal|privacy|licen[cs]e|audit) reasons|by law|required by (?:law|gdpr|pci|the auditors?|legal))\b",
    ),
    (
        " than|exceed",
        r"\b(?:may|can|cannot|must)(?:not)? (?:not )?(?:exceed|be (?:more|less|longer|larger|greater|smaller|shorter) than)\b",
    ),
    (
        " allowed| permitted|disallowed|forbidden|limits|mandatory|prohibited|required",
        r"\b(?:is|are) (?:strictly )?(?:required|mandatory|forbidden|prohibited|not allowed|not permitted|disallowed|off[- ]limits)\b(?! by (?:the )?(?:test|ci)\b)",
    ),
    ("only ", r"(?:^|[;:,] )only .{1,60} (?:may|can|is allowed to|are allowed to|should)\b"),
    (
        " maximum | more | most|capped |limited ",
        r"\b(?:at most|no more than|not more than|limited to|capped at|a maximum of) \d[\d.,_]*\s?[a-z]\w+",
    ),
    (
        " least| less | more | most|below|capped |limit|max|minimum |under|up |within",
        r"\b(?:at most|at least|no more than|no less than|not more than|up to|maximum (?:of|is)|minimum (?:of|is)|max(?:imum)?|limit(?:ed)? (?:of|is|to)|capped at|under|below|within) \d[\d.,_]*\s?(?:[kmg]i?b\b|bytes?|chars?|characters|letters|ms|s\b|sec\w*|min\w*|hours?|days?|lines|items|requests?|rows|connections|retries|attempts|per\b|users|columns|mb\b|gb\b|threads|workers)",
    ),
    (
        "needs|require",
        r"\b(?:needs|requires|require) (?:at least )?(?:python|node|java|go|ruby|postgres\w*|django|rust|php|sphinx|openssl|[A-Z]\w+) ?(?:>=?|≥)? ?v?\d",
    ),
    (
        " keinen | verboten|darf |maximal |mindestens |muss|niemals|pflicht|zwingend",
        r"\b(?:muss|müssen|darf (?:\w+ )?(?:nie|nicht|nur|kein\w*|höchstens|maximal)|dürfen (?:nie|nicht|nur|kein\w*)|niemals|auf keinen fall|höchstens \d|mindestens \d|maximal \d|ist verboten|zwingend|pflicht)\b",
    ),
    (
        " jamais|doit|doivent|faut|interdit|jamais |maximum|minimum|moins|obligatoire|pas|plus|toujours ",
        r"\b(?:doit|doivent|il faut|ne (?:doit|doivent|faut|pas)\b|ne jamais|jamais\b.{0,60}\bne\b|toujours (?:utiliser|passer|valider)|obligatoire|interdit|au (?:plus|moins|maximum|minimum) \d)",
    ),
    (
        " menos|debe|hay |nunca|obligatorio|prohibido|puede",
        r"\b(?:debe|deben|hay que|no se (?:debe|puede)|nunca|obligatorio|prohibido|(?:como )?(?:máximo|mínimo|al menos) \d)\b",
    ),
    (
        "deve|nunca|proibido",
        r"\b(?:deve|devem|é preciso|é obrigatório|não pode|não podem|não se deve|nunca|proibido|no (?:máximo|mínimo) \d)\b",
    ),
    (
        "-",
        r"必须|不得|禁止|不要|切勿|务必|严禁|不能超过|不允许|必ず|してはいけ|してはなら|なければならな|必須|べからず|ないこと|すること$|以内に",
    ),
    (
        " one| should |body|thing",
        r"\bno(?:thing|body| one)\b.{0,40}\b(?:may|must)\b(?! have)|\bnobody .{0,40}\bshould\b",
    ),
    (
        "only ",
        r"\bmay (?:be )?(?:\w+ ){1,4}only\b|\b(?:is|are) (?:for|to be used for) .{3,40} only\b",
    ),
    (
        "to ",
        r"\b(?:is|are) (?:only |never |not )?to be (?!expected|done|fixed|removed|decided|seen|continued|released|merged|found|added|changed|called|used|consistent|able|more|less|a\b|the\b)\w+ed\b",
    ),
    (
        " matters |keep ",
        r"\border\b.{0,40}\bmatters\b(?!.{0,10}\bless\b)|\bkeep (?:it|this|them|that) (?:that way|like th(?:is|at)|so)\b",
    ),
    (
        " has ",
        r"(?<!we )(?<!i )(?<!you )(?<!not )(?<!n't )\bhas to (?:work|load|exist|follow|finish|start|return|pass|end|know|see|wait|stay)\b",
    ),
    (
        " allow|demand|doesn |forbid|insist|prohibit|require",
        r"\b(?:contract|licen[cs]e|law|gdpr|policy|legal|auditors?|regulators?|compliance)\b.{0,40}\b(?:forbids?|requires?|demands?|prohibits?|insists?|does not allow|doesn't allow)\b",
    ),
    (
        " peu|deben|puede",
        r"\bno (?:puede|pueden|deben)\b|\bne (?:peut|peuvent)\b.{0,20}\b(?:pas|jamais|que)\b",
    ),
    (
        "above|after|beyond|over",
        r"\b(?:blocks?|rejects?|refuses?|throttles?|bans?|kills?) \w+(?: \w+)? (?:above|after|beyond|over) (?:more than )?(?:\d|an? (?:second|minute|hour|day))",
    ),
    (
        " never |requirement ",
        r"\bcan never (?:be )?\w+|\bis a (?:hard )?requirement\b(?! (?:to|for)\b)",
    ),
    ("-", r"\bdürfen (?:höchstens|maximal)\b"),
)
"""Something is demanded."""

FORBID = table(
    (
        " sure|always|avoid|don |dont|ensure|make |never|no|only",
        r"^(?:(?:and|also|but|oh|btw|by the way),? )?(?:please )?(?:never|always|do not|don't|don’t|dont|avoid|only|make sure|be sure|ensure(?: that)?|no) (?!mind|idea|problem|worries|need|way|wonder|effect|change|measurable|difference|thanks|luck|clue|one|matter)\S",
    ),
    (
        "bitte |immer|kein|nie|vermeide",
        r"^(?:nie|niemals|immer|bitte (?:nie|nicht|immer)|keine?n?|vermeide)\b",
    ),
    ("", r"^(?:ne (?:pas|jamais)|jamais|toujours|évite[rz]?|n')\b"),
    (
        "evita|hagas|nunca|olvides|pongas|sempre|siempre|subas|toques|usar|use",
        r"^(?:nunca|siempre|no (?:uses?|usar|hagas|pongas|toques|subas|olvides)|evita[r]?|sempre|não (?:use|usar|faça|coloque|commite))\b",
    ),
    ("-", r"^(?:不要|别|请勿|始终|总是|永远不要|必ず|絶対に)"),
)
"""A sentence that begins as an order."""

DEPRECATED = table(
    (
        " life | removed |deprecat",
        r"\bdeprecat(?:e|ed|es|ing|ion)\b(?=.{0,120}\S)|\bend of life\b|\bwill be removed in\b",
    ),
    (
        " descontinuad| obsoleto | veraltet ",
        r"\bveraltet\b|\bobsolète\b|\bdéprécié|\bobsoleto\b|\bdescontinuad|弃用|废弃|非推奨",
    ),
)

LEFT = table(
    (
        "forget|müssen |noch ",
        r"\bdon't forget (?!to (?:run|check|say))\S.{8,}|\bmüssen wir noch\b|\b(?:muss|müssen) noch\b",
    ),
    (
        "fixme|to|xxx",
        r"^(?-i:TODO|FIXME|XXX)\b\s?(?:\([^)]{0,40}\))?\s?[:：—-]?\s|^(?:todo|to do|to-do)\s?(?:\([^)]{0,40}\))?\s?[:：—]\s",
    ),
    (
        " done|backlog|follow|known |later|left|next|open|outstanding|pending|remaining|still |task|unresolved",
        r"^(?:next|next steps?|next up|follow[- ]?ups?|tasks?|remaining|unresolved|open(?: issues?| questions?| points?)?|still (?:to do|todo|open|missing|left)|left(?: to do| open)?|known (?:issues?|bugs?|limitations?|problems?)|later|not done(?: yet)?|pending|outstanding|backlog)\s?(?:\([^)]{0,40}\))?\s?[:：—]\s?\S",
    ),
    ("fixme|todo", r"\b(?-i:TODO|FIXME)\b ?:"),
    (
        " still ",
        r"\bstill (?:need|needs|have|has|to|missing|open|unresolved|fails?|failing|broken|left|lack|lacks|unclear|not (?:handled|supported|implemented|covered|working|fixed|tested|done|migrated|documented))\b(?! (?:valid|true|works?|passes)\b)",
    ),
    (
        " yet ",
        r"\b(?:not|isn't|aren't|doesn't|don't|didn't|hasn't|haven't|can't|cannot|no|nothing|n't)\b(?: [\w`'-]+){0,5} yet\b",
    ),
    (
        " blocked | later | once | release| revisit | sprint| stopgap | temporary |dropped|monday|next |removed|replaced|revisited|rewritten|tomorrow",
        r"^(?:for )?(?:tomorrow|next week|next time|next sprint|monday|after the release|before the release)\s?[:,]|\bfor (?:tomorrow|next week|next time|a later (?:pr|commit|release|day))\b|\b(?:is|are) blocked (?:on|until)\b|\bstopgap\b|\btemporary (?:fix|workaround|hack|solution)\b|\bshould be (?:replaced|removed|rewritten|revisited|dropped)\b.{0,60}\b(?:once|when|after|later|eventually|soon)\b|\brevisit\b|\bonce .{3,60} (?:lands|is released|is merged|ships|is out|is done),? .{0,20}(?:remove|drop|switch|delete|revert|can)\b",
    ),
    (
        "lacks|needs",
        r"\b(?:needs|lacks) (?:tests?|docs|documentation|a test|an? index|cleanup|cleaning up|review)\b",
    ),
    (
        "need|require|want",
        r"\b(?:needs?|wants?|requires?) (?:a |an |some |more |another )?(?:follow[- ]?up|separate (?:pr|commit|change)|to be (?:done|fixed|implemented|handled|added|written|ported|migrated|updated|removed|revisited|cleaned|documented|tested|investigated|addressed|rotated|wired|decided|moved|replaced))\b",
    ),
    (
        "another|follow|future|later|next |separate|subsequent",
        r"\b(?:in|for|as|with) (?:a |an |the )?(?:(?:follow[- ]?up|later|future|separate|subsequent|another) (?:pr|prs|commit|change|patch|release|day|pull request|mr|iteration|sprint)|next (?:pr|commit|release|iteration|sprint))\b",
    ),
    (
        " follow",
        r"\bfollow[- ]?up\b(?! to | of |s? from |: fix)(?=.{0,80}\b(?:will|needed|required|to (?:add|fix|do|remove|handle|come)|should|pr|commit)\b)",
    ),
    (
        "added|addressed|cleaned |come|dealt |done|fixed|follow|handled|implemented|removed|revisited|tackled",
        r"\b(?:will|should|must|can|to) (?:be )?(?:follow|come|done|added|fixed|handled|addressed|implemented|revisited|removed|tackled|dealt with|cleaned up) (?:up )?(?:later|next|soon|separately|in a|afterwards|eventually|once|when)\b",
    ),
    (
        " progress | scope | unresolved|decided|done|fixed|implemented|known |left |not |remain|unresolved |written",
        r"\b(?:(?:is|are|remains?|still|stays?) unresolved|unresolved (?:issues?|problems?|questions?|bugs?)|left (?:open|unfinished|undone|out for now|for later|to do|as is for now)|not (?:yet|implemented yet|supported yet|done yet|handled yet)|yet to be (?:done|fixed|implemented|decided|written)|remains? (?:to be|open|unresolved|broken|unfixed)|known (?:issue|bug|limitation|problem)s?\b|work(?:ing)? in progress on|out of scope for now)\b",
    ),
    (
        " forget| should |has|have|need|ought|remember",
        r"\b(?:don't forget|do not forget|remember) to \S|(?:^|[,;:.—] |\band |\bbut |\bso |\bthen |\bthat )(?:we|someone|somebody) (?:still |also |then |should |must )?(?:need|needs|have|has|ought) to (?!be\b)\w+|^(?:still |also )?(?:need|have|needs) to \w+|^(?:\w+,? ){1,2}we (?:still |also )?(?:need|have) to (?!look|check|see|understand|find|read|know|make|figure|run|be|do|get)\w+|\bwe should (?:still |also |really |then )?(?:add|write|fix|remove|rename|migrate|document|test|replace|split|move|update|clean|rotate|delete|drop|rewrite|check|handle|support)\b",
    ),
    (
        "bleibt |fehlen |fehlt |muss |noch |offen|steht ",
        r"\b(?:offen(?: ist| bleibt)?:|noch (?:offen|zu tun|nicht (?:fertig|umgesetzt|gelöst|behoben|implementiert|unterstützt))|(?:es )?fehlt noch|fehlen noch|muss noch|müssen noch|steht noch aus|bleibt offen|bleibt noch|als nächstes|nächste[rn]? schritt|später noch)\b",
    ),
    (
        " encore| manque| reste|manque ",
        r"\b(?:reste à|il reste|restent à|à faire|prochaine étape|encore à|pas encore|il manque|manque encore)\b",
    ),
    (
        " hacer|falta|pendiente|queda|siguiente ",
        r"\b(?:falta(?:n)?|queda(?:n)? (?:pendiente|por)|pendiente|por hacer|próximo paso|todavía no|aún no|siguiente paso)\b",
    ),
    (
        " fazer|ainda |falta|pendente",
        r"\b(?:falta(?:m)?|pendente|por fazer|a fazer|próximo passo|ainda não|ainda (?:falta|precisa))\b",
    ),
    (
        "-",
        r"待办|待处理|待完成|下一步|尚未|还没有?|未解决|后续(?:需要|再|要)?|遗留|残って|未対応|未実装|今後|次は|あとで|残タスク|残課題|まだ.{0,20}(?:ない|いない)",
    ),
    (
        " follow | request |come",
        r"\bwill follow\b(?! (?:the|a|an|this|that|pep|semver)\b)|\bcomes? (?:later|next|(?:in|with) (?:a|the) (?:next|later|follow[- ]?up|separate))\b|\bin the next pull request\b",
    ),
    (
        "coded|disabled|ignored|leave|leaving|left|omit|skip|stubbed",
        r"\b(?:left|leave|leaving|skip|skipped|skipping|omit|omitted|ignored|disabled|hard-?coded|stubbed)\b.{0,60}\bfor now\b|\b(?:i|we) left out\b",
    ),
    (
        " remind | some|what",
        r"^what(?:'s| is) (?:still )?(?:missing|left|open)\b|\b(?:somebody|someone) (?:still )?(?:has to|needs to|should|must|will have to) \w+|\bremind (?:me|us) to \w+",
    ),
    (
        "documented|implemented|incomplete|migrated|ported|tested|translated|unfinished",
        r"\b(?:untested|undocumented|unfinished|incomplete)\b.{0,20}\b(?:so far|for now|until)\b|\b(?:haven't|have not|hasn't|has not) been (?:tested|documented|translated|ported|migrated|implemented)\b",
    ),
    (
        " soon |after|once|when",
        r"^(?:please )?(?:remove|drop|delete|revert|undo|replace) (?:this|it|that|the (?:workaround|hack|shim|pin|flag|fallback))\b.{0,40}\b(?:once|when|as soon as|after)\b",
    ),
    (
        "did |didn |have |haven ",
        r"\b(?:did not|didn't|haven't|have not) (?:get|got|gotten|manage[d]?|have time|had time|come) (?:round |around )?to\b",
    ),
    (
        " monday|another |next |tomorrow",
        r"\b(?:i|we)(?:'ll| will)\b.{1,80}\b(?:tomorrow|next week|on monday|another day)\b|^(?:tomorrow|next week),? (?:i|we)\b",
    ),
    (
        "anpassen|dokumentiere|einbauen|ersetzen|machen|morgen |schreiben|testen|umstellen",
        r"^morgen\b.{4,}|\bnoch (?:die|das|den|der|ein\w*)\b.{3,80}(?:schreiben|machen|testen|einbauen|ergänzen|prüfen|klären|umstellen|ersetzen|dokumentieren|anpassen)\W*$",
    ),
    ("-", r"还(?:需|要|差|缺)|待补|まだ(?:です|完了)"),
    (
        " could| request|issue|next|ticket",
        r"\bneeds? (?:a|an|another|its own) (?:separate |new )?(?:ticket|issue|pull request)\b|\b(?:could not|couldn't) (?:finish|complete|solve)\b|^next,? (?:i|we) (?:want|need|have|should|plan)\b",
    ),
)
"""Something is left to do."""
