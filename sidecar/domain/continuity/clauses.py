"""Clauses: parts of a sentence that say something by themselves, and words that say whose they are."""

# ruff: noqa: RUF001 - other scripts have letters that look like ours

from collections.abc import Iterator

from sidecar.domain.enrichment.patterns import compiled

_REPORTED = compiled(
    r"you(?: have| had|['’]ve)?(?: also| already| once)? (?:(?:told|reminded) (?:me|us)|said)(?: (?:before|earlier|already))?(?: that\b| to\b|[,:]|(?= we\b))",
    r"i(?: also| still| already)? (?:remember|recall|know|was told|have noted|noted)(?: from (?:the |my |our )?(?:memory|notes))?(?: that\b|[,:])",
    r"from (?:the |my |our )?memory(?:,? i (?:know|remember|recall))?(?: that\b|[,:])",
    r"(?:the|my|our|your) (?:project |project's |shared )?(?:memory|memories|notes?) (?:also )?(?:says?|states?|tells? (?:me|us))(?: that\b|[,:]|\b)",
    r"as (?:(?:i|we) (?:have )?|it (?:is|was) |already |previously )?(?:recorded|noted|remembered|agreed|decided|told)(?: (?:in memory|before|earlier))?[,:]",
    r"as (?:i (?:know|remember|recall)|you (?:said|told (?:me|us))|(?:the|my|our) memory says)(?: (?:before|earlier))?[,:]",
    r"it (?:is|was) (?:recorded|noted|written down)(?: in (?:the |our )?memory)? that\b",
    r"according to (?:the |my |our |your )?(?:project |project's )?(?:memory|notes)[,:]",
    r"du hast (?:mir |uns )?(?:gesagt|erzählt)(?:, dass\b|[,:])",
    r"ich (?:weiß|erinnere mich)(?: aus dem gedächtnis)?(?:, dass\b|[,:])",
    r"(?:wie (?:notiert|vermerkt|festgehalten|besprochen)|laut (?:dem |meinem )?gedächtnis|aus dem gedächtnis(?: weiß ich)?)[,:]",
    r"(?:tu m['’]as|vous m['’]avez) dit (?:que\b|[,:])",
    r"je (?:me souviens|sais)(?: de mémoire)? que\b",
    r"(?:comme (?:noté|convenu|enregistré)|selon (?:la|ma) mémoire|de mémoire)[,:]",
    r"la mémoire dit(?: que\b|[,:])",
    r"(?:me (?:dijiste|has dicho)|recuerdo|sé|la memoria dice) (?:que\b|[,:])",
    r"(?:como (?:se )?(?:anotado|anotó|acordado|acordó)|según (?:la|mi) memoria|de memoria)[,:]",
)
"""Words with which somebody tells again what they were told."""
_THAT = (
    r"that (?!(?:is|was|isn['’]t|wasn['’]t|has|had|does|doesn['’]t|would|will|means|makes|one)\b)"
)
"""The word that begins a clause, not the one that points at something."""
_TOGETHER = compiled(rf"\s*[;；]\s*(?:(?:and|und|et|y) )?(?:{_THAT}|dass |que )?")
_REPORTED_TOO = compiled(rf",? and {_THAT}", r",? und dass ", r",? et que ", r",? y que ")
"""Words that go on with what somebody was told."""
_MOST = 3
"""Words of that kind that may stand before one another."""


def said(clause: str) -> str:
    """Give what a clause says without the words that tell whose it is: all of it where there are none."""
    for _ in range(_MOST):
        found = _REPORTED.match(clause)
        if found is None:
            break
        clause = clause[found.end() :].lstrip()
    return clause


def split(sentence: str) -> Iterator[str]:
    """Give the clauses of a sentence; what is reported has parts that nothing else has."""
    is_reported = _REPORTED.match(sentence) is not None
    for part in _TOGETHER.split(sentence):
        parts = _REPORTED_TOO.split(part) if is_reported else [part]
        yield from (one.strip() for one in parts if one.strip())
