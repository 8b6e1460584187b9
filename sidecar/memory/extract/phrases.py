"""Phrases: how people say that something was decided, must be, is left to do, and so on, in seven languages.

A table of patterns, one row for each language; a language is added by adding rows.
"""

from sidecar.text.patterns import compiled, table

# ruff: noqa: RUF001 - other scripts have letters that look like ours


DECIDED = table(
    (
        " it |agreed|chose|debate|decided|discussion|dropped|opted|picked|preferred|rejected|ruled |selected|settled|stay |thought|went ",
        r"\b(?:we|i|team|maintainers|they)(?:'ve| have| had)? (?:\w+ly |just |also )?(?:decided|agreed|chose|opted|settled|went with|picked|selected|preferred|ruled out|dropped|rejected)\b(?! out)|\b\w+ it is\b[,.;!]|^stay (?:on|with) \S|^after (?:some|a long|much|a short) (?:discussion|thought|debate)\b",
    ),
    (
        "abandoning|adopting|dropping|going |keeping|moving |replacing|retiring|staying|sticking|switching|using|will ",
        r"\b(?:i'm|i am|we're|we are) (?:now )?(?:dropping|switching|keeping|moving to|going with|using|staying|sticking|adopting|replacing|retiring|abandoning)\b|\bwill be (?:written|built|stored|kept|served|sent|hosted|implemented|based)\b.{1,120}\b(?:because|since|so that|instead of|rather than)\b",
    ),
    (
        " forward| today |from ",
        r"^(?!.*\b(?:never|must|always|don't|do not)\b).*\b(?:from now on|from today on|going forward)\b",
    ),
    (
        "adr|agreed|decided|decision|resolved",
        r"^(?:decisions?|decided|resolved|agreed|adr)(?:[ -]?\d+)?\s?[:—-]",
    ),
    (
        " deci",
        r"\bdecided (?:to|on|against|not to|that|in favou?r)\b|\bdecision (?:was|is) (?:made |taken )?to\b",
    ),
    (
        " let",
        r"\blet(?:'?s|’s| us) (?:not )?(?!look|see|check|start|begin|go\b(?! with)|try|talk|continue|meet|wait|think|discuss|figure|find|investigate|first|now|get|have|take a|hope|say|say|be\b|commit|push|merge|run|fix|do (?:it|that|this)|move on|call it|review|test|add|implement|write)\w+",
    ),
    (
        " avoid | that |because |instead |rather |since ",
        r"\bi(?:'ve| have)? (?:used|chose|chosen|went with|kept|picked|switched|replaced|moved) .{1,160}(?:\binstead of\b|\bbecause\b|\brather than\b|\bsince\b|\bso that\b|\bto avoid\b)",
    ),
    (
        " ended | longer | plan | the |chosen|eventually|finally|hence|instead|picked|preferred|rejected|ruled |stop |stopped |therefore|ultimately",
        r"\b(?:in the end|instead|eventually|finally|ultimately|therefore|hence),? (?:we|i) (?!are|were|was|had|found|could|can|noticed|saw|hope|got)\w+|\bwe ended up \w+ing\b|\bthe plan is to\b|\b(?:was|were) (?:chosen|picked|preferred|ruled out|rejected)\b|\bwe (?:no longer (?:keep|use|support|store|accept|ship|send|need|run|rely|allow|build)|stopped \w+ing|stop \w+ing)\b",
    ),
    (
        " longer| with|adopt|always|avoid|drop|generate|keep|never|not|only|put|rely|run|ship|standardi|stay|stick|store|support|switch|target|treat|use|write",
        r"\bwe(?:'ll| will| are going to|'re going to) (?:use|keep|go with|stick|switch|adopt|not|no longer|drop|support|store|only|always|never|write|run|ship|target|rely|generate|treat|stay|avoid|put|standardi[sz]e)\b",
    ),
    (
        " avoid | because | instead | not | rather | since | that ",
        r"\bwe (?:now |therefore |still |only |simply )?(?:use|keep|drop|store|accept|avoid|stay|rely|choose|pick|skip|leave|take|put|write|let|call|treat|hold|run)\b.{1,200}(?:\binstead of\b|\brather than\b|\bsince\b|\bbecause\b|\bso that\b|, not\b|\bto avoid\b)",
    ),
    (
        " with |ettle|opted |stick|tandardi",
        r"\b(?:go|going|went|gone) with (?!out\b)|\b(?:settled|settle|standardi[sz]ed?) on\b|\bopted (?:for|to)\b|\bstick(?:ing)? (?:with|to)\b",
    ),
    (
        "beschlossen|bleiben |einigen |entscheidung |entschieden|jetzt|nehmen|nutzen|setzen |sofort|verwenden",
        r"\b(?:wir|ich|man) (?:haben |habe )?(?:uns )?(?:entschieden|beschlossen|einigen uns)|\bentschieden\b|\bbeschlossen\b|^entscheidung\b|\bwir (?:verwenden|nutzen|nehmen|setzen auf|bleiben bei|benutzen)\b|\bab (?:jetzt|sofort)\b",
    ),
    (
        "choisi|garde|gardons|part |reste |utilise|utilisons",
        r"\b(?:on a|nous avons|avons) (?:décidé|choisi|opté)|\bdécidé de\b|^décision\b|\bon (?:utilise|garde|passe à|part sur|reste sur)\b|\bnous (?:utilisons|utiliserons|gardons)\b",
    ),
    (
        "decidido|decidimos|elegido|elegimos|optado|optamos|usaremos|vamos ",
        r"\b(?:hemos|se ha|se) (?:decidido|decidió|elegido|optado)|\b(?:decidimos|elegimos|optamos|usaremos|vamos a usar)\b|^decisión\b",
    ),
    (
        " decidido|decidimos|escolhemos|optamos|usaremos|vamos ",
        r"\b(?:decidimos|escolhemos|optamos|usaremos|vamos usar|foi decidido|ficou decidido)\b|^decisão\b",
    ),
    (
        "cambiamos|ficamos |guardamos|mantemos|mantenemos|migramos|pasamos|passamos|trocamos|usamos|utilizamos",
        r"\b(?:usamos|utilizamos|ficamos com|trocamos|migramos|passamos|mantemos|guardamos)\b.{1,160}\b(?:em vez d|porque|pois|para|por)|\b(?:usamos|utilizamos|cambiamos|migramos|pasamos|mantenemos|guardamos)\b.{1,160}\b(?:en (?:lugar|vez) de|porque|ya que|por)\b",
    ),
    (
        " lieu |anstelle|statt",
        r"\b(?:wir|man)\b.{0,60}\b(?:statt|anstatt|anstelle)\b|\b(?:on|nous)\b.{0,100}\b(?:plutôt que|au lieu d)|\bà la place d",
    ),
    (
        "-",
        r"决定|决策|选用|选择了|我们(?:将)?(?:采用|使用)|統一|决议|決定|採用|することにし|使うことに|を使用する方針",
    ),
    (" for ", r"\b(?:we|i)(?:'ll| will)? go for \S"),
    ("getting|moving", r"\bwe(?:'re| are) (?:now )?(?:moving|getting) (?:away|off|over|rid)\b"),
    (
        "agreed",
        r"^agreed[,:;] (?!thanks|thank|i\b|i'll|let me|will|good|great|sounds|that's|makes)\S.{12,}",
    ),
    (
        " and | instead | not | rather ",
        r"\bso (?:we|i) (?!can\b|could|should|have|need|must|don't|can't|cannot|are\b|were|had)\w+ .{3,100}(?:, not\b|\band not\b|\binstead of\b|\brather than\b)",
    ),
    (
        " will |forget ",
        r"^forget (?:about )?(?:the|that|this|all)\b.{3,60}[,;:] .{6,}|\ba .{3,40} will do\b",
    ),
    (
        "then",
        r"^(?:fine|ok(?:ay)?|alright|right|good),? (?:[\w.+#-]+ ){1,3}then[.!]?$|^(?:fine|ok(?:ay)?|alright|right),? then (?!i\b|we\b|it\b|you\b)[\w.+#-]+[.!]?$",
    ),
    (" for|choose|pick|take", r"\bwe(?:'ll| will) (?:take|pick|choose|go for)\b"),
)
"""Somebody says that something was decided."""

CHOSEN = table(
    (
        "make |rely |use",
        r"(?:use|used|uses|rely on|make use of)\s.{1,160}?(?:,|\s)\s?(?:instead of|rather than|in place of|over(?! the| a\b|all)|not)\s\S",
    ),
    ("instead |rather ", r"(?:instead of|rather than)\s.{3,160}?,\s.{3,}"),
    (
        "migrate|switch|transition",
        r"(?:switch|switched|migrate|migrated|transition|transitioned)\s(?:.{1,80}?\s)?(?:from\s.{1,80}?\s)?(?:to|onto|over to|away from)\s\S",
    ),
    ("move", r"(?:move|moved)\s(?:over |back |away )?(?:to|from)\s\S"),
    ("move", r"(?:move|moved)\s(?!.{0,80}\.\w{1,4}\b).{1,80}?\sfrom\s.{1,60}?\sto\s\S"),
    (
        "replace|substitute|swap",
        r"(?:replace|replaced|swap|swapped|substitute[ds]?)\s.{1,160}?\s(?:with|by|for|to)\s\S",
    ),
    (
        "adopt|instead |over|rather |standardi",
        r"(?:adopt|adopted|standardi[sz]e)\s\S|(?:choose|chose|prefer|preferred|pick|picked|favou?r(?:ed)?)\s.{1,120}\b(?:over|instead of|rather than)\s\S",
    ),
    (
        "discontinue|ditch|drop|end|remove",
        r"(?:drop|dropped|remove|removed|end|ended|ditch|ditched|discontinue[ds]?)\s(?:the\s)?(?:.{0,60}\b(?:support|compatibility)\b|(?:python|py|node|ruby|java|php|go|postgres\w*|mysql|django|windows|ie)\s?v?\d|dependency on|.{1,80}\sin favou?r of\b|.{1,40}\bdependency\b)",
    ),
    (
        " ersetz|ersetze|migriere|migriert|statt|stelle|umgestellt|umstellung|umstieg|wechsel|wechsle",
        r"(?:(?:verwende|nutze|benutze|nimm)\w*\s.{1,120}?\b(?:statt|anstatt|anstelle)\b|(?:ersetze|wechsle|wechsel|umstieg|umstellung|migriere|stelle)\w*\s.{1,120}?\b(?:durch|auf|zu|von)\b|.{1,100}\bdurch\b.{1,60}\bersetz|.{1,100}\bauf\b.{1,60}\b(?:umgestellt|umstellen|migriert))",
    ),
    (
        "emploie|migration|migre|passage|passe|remplace|utilise",
        r"(?:(?:utilise|utiliser|emploie)\w*\s.{1,120}?\b(?:au lieu d|plutôt qu|à la place d)|(?:remplace|remplacer)\w*\s.{1,120}?\bpar\b|(?:migre|passe|passage|migration)\w*\s.{0,100}?\b(?:vers|à|de)\b)",
    ),
    (
        "cambia|lugar|migra|reemplaza|sustituye|vez",
        r"(?:(?:usar?|utiliza\w*)\s.{1,120}?\ben (?:lugar|vez) de\b|(?:reemplaza|sustituye|cambia|migra)\w*\s.{1,120}?\b(?:por|a|con)\b)",
    ),
    (
        " vez |migra|substitui|troca",
        r"(?:(?:usar?|utiliza\w*)\s.{1,120}?\bem vez d|(?:substitui|troca|migra)\w*\s.{1,120}?\b(?:por|para|pelo|pela)\b)",
    ),
)
"""A sentence that begins so is a choice between two ways."""

SWAPPED = table(
    (
        " lieu |anstelle|lugar|statt|vez",
        r"\b(?:en (?:lugar|vez) de|em vez d[eoa]s?|au lieu d[eu']|plutôt que|anstatt|statt|anstelle)\b.{3,}",
    ),
    (
        " favo|instead |rather ",
        r"\b(?:in favou?r of|now uses? .{1,80}?(?:instead of|rather than))\s\S",
    ),
    (
        "-",
        r"(?:使用|用|采用|改用).{1,60}(?:代替|替代|取代|而不是|而非)|(?:从).{1,40}(?:迁移|切换|改)(?:到|为|成)|改用|替换为|.{1,40}の代わりに.{1,60}|.{1,40}から.{1,40}(?:に|へ)(?:移行|変更|切り替え|置き換え)",
    ),
)
"""Words for such a choice anywhere in a sentence."""


PREFERRED = table(
    (
        "convention|favo|hate|like|love|prefer|rather|style|taste|want",
        r"\b(?:i|we|team)(?:'d)? (?:really |strongly |generally |would |much |always )?(?:prefer|like|favou?r|rather|love|hate|dislike|want|don't like|do not like)\b|\b(?:my|our) (?:preference|style|convention|favourite|taste)\b",
    ),
    (
        " not|always|answer|avoid|commit|don |format|indent|keep|name|never|prefer|put|reply|stick|use|write",
        r"^(?:please|pls) (?:use|keep|write|avoid|put|name|prefer|stick|do not|don't|always|never|answer|reply|format|indent|commit)\b",
    ),
    (
        " rule| this |around |convention|naming|prefer |preference|style",
        r"^(?:style|preference|convention|code style|naming)\s?[:：]|^prefer \S|\b(?:as a rule|by convention|in this (?:repo|repository|project|codebase),? (?:we|all|every|use)|around here)\b",
    ),
    (
        "please",
        r"^(?!add|fix|make|create|run|check|have|take|look|see|show|tell|try|can|could|remove|delete|update|change|implement|open|do\b|go\b|help|start|stop|move|rename|commit|push|review|explain|find|find).{4,160}[, ]please[.!]*$",
    ),
    (
        " lines|answer|branches|files|indent|keep |prefer|reply|respond|tests|use|variables|write ",
        r"^(?:answer|reply|respond) (?:in|with|short|brief)|^write (?:tests|comments|docs|docstrings|commit messages|everything|code) (?:in|with|as|like|for|before|so)\b|^keep (?:answers|commits|functions|methods|prs|pull requests|lines|messages|diffs|changes|tests|names|comments|it|them|everything)\b|^(?:use|prefer) (?:tabs|spaces|british|american|single|double|snake|camel|type hints|early returns|conventional commits|oxford|uk |us )\b|^(?:indent|wrap lines|name (?:tests|branches|files|variables))\b",
    ),
    (
        "bitte |ich|lieber |wir",
        r"\b(?:ich|wir) (?:bevorzuge|bevorzugen|mag|mögen|hätte[n]? lieber|ziehe\w*)\b|\bbitte (?:verwende|benutze|nutze|schreib|nimm|halte|keine)\w*\b|\blieber\b",
    ),
    (
        " aime|merci ",
        r"\bje préfère|\bnous préférons|\bon préfère|\bj'aime(?:rais)?\b|\bmerci d['e]|\bs'il (?:te|vous) plaît",
    ),
    (
        " favor| gusta |preferimos |prefier|prefiro ",
        r"\bprefier[oe]\b|\bpreferimos\b|\bme gusta\b|\bpor favor,? (?:usa|utiliza|escribe|evita)\w*|\bprefiro\b|\bpor favor,? (?:use|escreva|evite)\b",
    ),
    (
        "-",
        r"偏好|更喜欢|我喜欢|倾向于|请(?:使用|用|保持|写)|のほうが好き|を好む|してください|が好み",
    ),
    (
        " bitte | please ",
        r"^(?:short|long|small|no|more|less|fewer|only|plain|simple)\b.{2,40} please\b|\b(?:verwende|benutze|nutze|schreib|nimm|halte)\w* bitte\b",
    ),
)

REVERTED = table(
    (
        "back|land |reapply |revert|roll|undid |undo ",
        r"^(?:re-?)?revert(?:s|ed|ing)?\b|^back(?:ed|s|ing)? ?out\b|^roll(?:ed|s|ing)?[ -]?back\b|^(?:go|going|went|goes) back to\b|^undo\b|^undid\b|^reapply\b|^re-?land\b",
    ),
    (
        "-",
        r"^(?:macht?\b.{1,100}\brückgängig|rückgängig|zurückgenommen|nimm\b.{1,100}\bzurück|.{1,100}\b(?:rückgängig gemacht|zurückgerollt|zurückgenommen))",
    ),
    (
        "annulation|annule|desfaz|deshace|revenir |reverte|revertir|revierte",
        r"^(?:annule[rz]?|annulation|retour arrière|rétablit|revenir sur)\b|^(?:revierte|revertir|deshace[r]?|se revierte)\b|^(?:reverte[r]?|desfaz(?:er)?)\b",
    ),
    ("-", r"^(?:回退|还原|撤销|回滚)|取り消し|元に戻|巻き戻"),
)

CAUSED = table(
    (
        " cause|cause |crash|deadlock|error|failure|leak|race|regression|slowdown|the |turn",
        r"\b(?:root cause|the (?:actual |real |underlying )?(?:cause|culprit|problem|bug|issue|reason|trouble)(?: (?:of|for|behind|with) .{1,60}?)? (?:was|is|were|turned out|being|lay|lies|here)\b(?! (?:now )?(?:fixed|solved|resolved|gone))|cause:|turn(?:s|ed) out|it was caused|(?:was|were|is|are) caused by|the (?:failure|crash|error|leak|deadlock|regression|race|slowdown) (?:came|comes|stems?|stemmed|was due|was because|happened|occurred|happens|occurs))\b",
    ),
    (
        " daran| grund | stellte | ursache|kam |lag |liegt |ursache |verursacht ",
        r"\b(?:ursache (?:war|ist)|lag daran|liegt daran|der grund (?:war|ist|dafür)|es stellte sich heraus|verursacht (?:durch|von)|die ursache|kam (?:daher|davon)|lag an)\b",
    ),
    (
        " cause | raison |venait",
        r"\b(?:la cause (?:était|est)|(?:venait|provenait) d\w*|le problème (?:vient|était)|il s'avère|causé par|provoqué par|en raison d)\b",
    ),
    (
        " causa | problema |causado |provocado ",
        r"\b(?:la causa (?:era|fue|es)|(?:venía|provenía) de|se debía a|el problema (?:era|fue)|resultó que|causado por|provocado por)\b",
    ),
    (
        " causa | problema |acontecia |causado |descobriu |vinha ",
        r"\b(?:a causa (?:era|foi|é)|vinha d\w*|o problema (?:era|foi)|descobriu-se|causado por|acontecia porque)\b",
    ),
    ("-", r"根本原因|原因是|原因在于|问题在于|原来是|原因は|が原因|根本的な原因|判明"),
    (
        " wrong|found |got |happened|happens|there ",
        r"\bwhat (?:had )?(?:happened|happens|went wrong) (?:is|was)(?: that)?\b|^(?:found it|got it|there it is|i found (?:it|the (?:bug|cause|problem|culprit)))\s?[:,.—-]+ \S",
    ),
    (
        " problem | schuld | was ",
        r"^it was (?:the|our) \w+|\bdas problem (?:war|ist|lag)\b|\bschuld (?:war|ist)\b",
    ),
    (" found ", r"\bfound out (?:why|that|what)\b"),
)
"""Somebody says why something went wrong."""

UNDONE = compiled(
    r"(?:this|and) (?:(?:partially|partly|also|commit) )*(?:reverts|re-?lands|reapplies|restores)\b|(?:reverts|re-?lands) commit|reverting commit"
)
"""What git writes below a revert."""

BECAUSE = table(
    (
        " because | parce | porque | weil ",
        r"\bbecause\b(?! of (?:the )?(?:above|this|that)\b)|\bweil\b|\bparce que\b|\bporque\b|因为|由于|ためで|からで",
    ),
)
