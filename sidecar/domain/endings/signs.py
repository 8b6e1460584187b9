"""Signs: words by which a line tells that something is begun, undone, taken away, tested or described, not done."""

import re

from sidecar.domain.enrichment.patterns import Late, late, words


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
