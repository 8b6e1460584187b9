"""The formats of tokens, as data: to recognize another provider's, add a line here.

This is a constant module and no TOML file because hooks read it: `tomllib` would cost them as much as starting Python.
The prefixes by which a hook decides whether to load the redaction are derived from the same lines.
"""

SURE = (
    r"A(?:KIA|SIA|GPA|IDA|ROA|IPA|NPA|NVA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    r"AGE-SECRET-KEY-1[0-9A-Z]{58}",
    r"AIza[A-Za-z0-9_-]{35}",
    r"AKCp[A-Za-z0-9]{60,}+",
    r"AKID[A-Za-z0-9]{32}",
    r"APP_USR-[0-9]{6,20}-[A-Za-z0-9-]{20,}+",
    r"AQVN[A-Za-z0-9_-]{35,}+",
    r"AT(?:ATT|CTT)3[A-Za-z0-9_=-]{60,}+",
    r"ATBB[A-Za-z0-9]{32}",
    r"AVNS_[A-Za-z0-9_-]{15,}+",
    r"A3-[A-Z0-9]{6}-[A-Z0-9-]{26,34}",
    r"API-[A-Z0-9]{25,36}(?![A-Za-z0-9])",
    r"CCIPAT_[A-Za-z0-9]{22}_[A-Fa-f0-9]{40}",
    r"CCDB1_[A-Za-z0-9]{10,40}_[A-Za-z0-9]{30,}+",
    r"CFPAT-[A-Za-z0-9_-]{40,}+",
    r"CLOJARS_[a-z0-9]{60}",
    r"EAA[A-Za-z0-9]{60,}+",
    r"EAAA[A-Za-z0-9_-]{55,}+",
    r"EZ[AT]K[A-Za-z0-9]{54}",
    r"FLW(?:SEC|PUB)K(?:_TEST)?-[A-Za-z0-9]{12,40}-X",
    r"GOCSPX-[A-Za-z0-9_-]{20,}+",
    r"HRKU-[A-Za-z0-9_-]{30,}+",
    r"ICB_[A-Za-z0-9]{30,}+",
    r"IGQV[A-Za-z0-9_-]{60,}+",
    r"KGAT_[a-f0-9]{32}",
    r"LTAI[A-Za-z0-9]{16,24}(?![A-Za-z0-9])",
    r"NRAK-[A-Z0-9]{27}",
    r"NR(?:JS|II|AA)-[A-Za-z0-9_-]{19,}+",
    r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}",
    r"SCW[A-Z0-9]{17}(?![A-Za-z0-9])",
    r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}+",
    r"SK[0-9a-f]{32}(?![A-Za-z0-9])",
    r"AC[0-9a-f]{32}(?![A-Za-z0-9])",
    r"access-(?:sandbox|development|production)-[0-9a-f-]{36}",
    r"api_org_[A-Za-z]{34}",
    r"bkua_[a-z0-9]{40}",
    r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])",
    r"cmVmdGtu[A-Za-z0-9]{50,}+",
    r"crsr_[a-f0-9]{60,}+",
    r"csk-[a-z0-9]{40,}+",
    r"dapi[a-f0-9]{32}(?:-[0-9])?",
    r"dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}+",
    r"dnkey-[A-Za-z0-9=_-]{26,}+",
    r"do[opr]_v1_[a-f0-9]{64}",
    r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9.]{40,}+",
    r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}",
    r"duffel_(?:test|live)_[A-Za-z0-9_=-]{40,}+",
    r"fc-[a-f0-9]{32}(?![A-Za-z0-9])",
    r"figd_[A-Za-z0-9_-]{30,}+",
    r"fio-u-[A-Za-z0-9_=-]{60,}+",
    r"fo1_[A-Za-z0-9_-]{40,}+",
    r"fw_[A-Za-z0-9]{22,}+",
    r"gh[pousr]_[A-Za-z0-9]{30,}+",
    r"github_pat_[A-Za-z0-9_]{22,}+",
    r"gl(?:pat|dt|ft|rt|soat|cbt|ptt|agent|imt|oas|ffct|wt)-[A-Za-z0-9_.-]{20,}+",
    r"gsk_[A-Za-z0-9]{40,}+",
    r"hcaik_[a-z0-9]{50,}+",
    r"hf_[A-Za-z0-9]{30,}+",
    r"hv[sbr]\.[A-Za-z0-9_-]{24,}+",
    r"ico-[A-Za-z0-9]{32}",
    r"jina_[A-Za-z0-9_-]{40,}+",
    r"lin_(?:api|oauth)_[A-Za-z0-9]{30,}+",
    r"live_[a-f0-9]{35,}+",
    r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}",
    r"mdb_sa_sk_[A-Za-z0-9_-]{30,}+",
    r"mlsn\.[a-f0-9]{64}",
    r"napi_[a-z0-9]{50,}+",
    r"nfp_[A-Za-z0-9]{36,}+",
    r"npm_[A-Za-z0-9]{36}",
    r"ntn_[A-Za-z0-9]{40,}+",
    r"nvapi-[A-Za-z0-9_-]{20,}+",
    r"ops_eyJ[A-Za-z0-9_-]{100,}+",
    r"oy2[a-z0-9]{43}(?![A-Za-z0-9])",
    r"p8e-[A-Za-z0-9]{32}",
    r"packagist_[a-z]{2,10}_[a-f0-9]{60,}+",
    r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}",
    r"pat-(?:na|eu)[0-9]-[0-9a-f-]{36}",
    r"pat\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}",
    r"sat\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}",
    r"pcsk_[A-Za-z0-9_]{40,}+",
    r"ph[cx]_[A-Za-z0-9]{40,}+",
    r"pk_[a-f0-9]{34}(?![A-Za-z0-9])",
    r"pn[ub]_[A-Za-z0-9]{36}",
    r"pplx-[A-Za-z0-9]{20,}+",
    r"pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_.-]{30,}+",
    r"pubkey-[0-9a-f]{32}(?![A-Za-z0-9])",
    r"key-[0-9a-f]{32}(?![A-Za-z0-9])",
    r"pul-[a-f0-9]{40}",
    r"pypi-[A-Za-z0-9_-]{50,}+",
    r"r8_[A-Za-z0-9]{37}",
    r"rdme_[a-z0-9]{60,}+",
    r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?![A-Za-z0-9])",
    r"rk_(?:live|test|prod)_[A-Za-z0-9]{16,}+",
    r"rnd_[A-Za-z0-9]{28,}+",
    r"rubygems_[a-f0-9]{48}",
    r"rzp_(?:live|test)_[A-Za-z0-9]{14,}+",
    r"s-s4t2(?:ud|af)-[0-9a-f]{64}",
    r"sb_secret_[A-Za-z0-9_-]{20,}+",
    r"sbp_[a-f0-9]{40}",
    r"sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40}",
    r"shippo_(?:live|test)_[a-fA-F0-9]{40}",
    r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
    r"signkey-[a-z]{2,10}-[a-f0-9]{32,}+",
    r"sk_(?:live|test|prod)_[A-Za-z0-9]{16,}+",
    r"sk_[a-f0-9]{48}(?![A-Za-z0-9])",
    r"[sp]k\.eyJ[A-Za-z0-9_-]{50,255}\.[A-Za-z0-9_-]{20,64}",
    r"sm_(?:aat|pat|sat)_[A-Za-z0-9]{16,}+",
    r"sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}+",
    r"sq[pau]_[a-f0-9]{40}",
    r"tfp_[A-Za-z0-9_-]{40,}+",
    r"tgp_v1_[A-Za-z0-9_-]{40,}+",
    r"tk-us-[A-Za-z0-9_-]{48}",
    r"tlk_[A-Za-z0-9_-]{43}",
    r"tskey-[a-z]{2,10}-[A-Za-z0-9]{8,40}-[A-Za-z0-9]{20,}+",
    r"tvly-[A-Za-z0-9-]{20,}+",
    r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}",
    r"vercel_blob_rw_[A-Za-z0-9_]{30,}+",
    r"wandb_v1_[A-Za-z0-9_]{40,}+",
    r"xaat-[0-9a-f-]{36}",
    r"xapt-[0-9a-f-]{36}",
    r"xai-[A-Za-z0-9]{40,}+",
    r"xapp-[0-9]-[A-Za-z0-9-]{10,}+",
    r"xau_[A-Za-z0-9]{30,}+",
    r"xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}",
    r"xox[abeoprs][-.][A-Za-z0-9.-]{10,}+",
    r"ya29\.[A-Za-z0-9_-]{20,}+",
    r"zpka_[A-Za-z0-9]{32}_[a-f0-9]{8}",
    r"[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9])",
    r"[0-9a-f]{36}FFFFNRAL",
    r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}+",
    r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}",
    r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}",
)
"""Formats that nothing else has."""
LIKELY = (
    r"sk-[A-Za-z0-9_-]{20,}+",
    r"key_[A-Za-z0-9]{32,}+",
    r"secret_[A-Za-z0-9]{40,}+",
    r"secret-[A-Za-z0-9]{40,}+",
    r"live_[A-Za-z0-9_=-]{40,}+",
    r"sl\.[A-Za-z0-9_.-]{100,}+",
    r"s\.[A-Za-z0-9]{24}(?![A-Za-z0-9])",
    r"t1\.[A-Z0-9a-z_-]{60,}+",
    r"pa-[A-Za-z0-9_-]{40,}+",
    r"YC[A-Za-z0-9_-]{38}(?![A-Za-z0-9])",
    r"(?:api|sdk|mob)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
)
"""Formats that a name can have too; a match must also look random."""
ODD = (
    r"ABSK[A-Za-z0-9+/]{60,}+={0,2}",
    r"AAAA[A-Za-z0-9_-]{7}:[A-Za-z0-9_-]{100,}+",
    r"AAAAAAAAAAAAAAAAAAAA[A-Za-z0-9%]{50,}+",
    r"essu_[A-Za-z0-9+/]{40,}+={0,2}",
    r"fm[12]_[A-Za-z0-9+/=,_-]{60,}+",
    r"gl(?:sa|c)_[A-Za-z0-9_+/=-]{20,}+",
    r"sha256~[A-Za-z0-9_-]{43}",
    r"sntry[su]_[A-Za-z0-9_+/=-]{40,}+",
    r"whsec_[A-Za-z0-9+/=]{20,}+",
    r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}",
    r"1//0[A-Za-z0-9_-]{40,}+",
    r"[12]/[0-9]{12,20}:[0-9a-f]{32}",
    r"K00[0-9][A-Za-z0-9/+]{27}(?![A-Za-z0-9])",
)
"""Formats with characters that separate words elsewhere."""
ODD_PARTS = (
    *("ABSK", "AAAA", "essu_", "fm1_", "fm2_", "glsa_", "glc_", "sha256~", "sntrys_", "sntryu_"),
    *("whsec_", ":AA", "1//0", "1/", "2/", "K00"),
)
"""Every token in one of these formats contains one of these."""
INNER_PARTS = (
    *("-us", "FFFFNRAL", ".atlasv1.", "AZDO", "Q~", "eyJ", "eyK", ":AA"),
    *("1//0", "fm1_", "fm2_"),
)
"""What a token contains that does not begin with fixed characters."""
_SPECIAL = frozenset("[(\\.{?*+|")


def prefixes() -> tuple[str, ...]:
    """Return how tokens begin that begin with fixed characters."""
    return tuple(
        prefix for pattern in (*SURE, *LIKELY, *ODD) for prefix in _prefixes(pattern) if prefix
    )


def _prefixes(pattern: str) -> list[str]:
    end = next((place for place, sign in enumerate(pattern) if sign in _SPECIAL), len(pattern))
    head, rest = pattern[:end], pattern[end:]
    if rest.startswith(("{", "?", "*", "+")):
        return [head[:-1]]
    if rest.startswith("\\."):
        return [f"{head}."]
    if rest.startswith("(?:"):
        inside, _, after = rest[3:].partition(")")
        if not after.startswith("?") and not _SPECIAL.difference("|").intersection(inside):
            return [head + part for part in inside.split("|")]
    return [head]
