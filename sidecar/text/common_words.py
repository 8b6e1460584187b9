"""Words that say nothing about a subject. No other module is loaded, for hooks."""

FUNCTION_WORDS = frozenset(
    """
    a about after all also am an and any are as at be been before being but by can could did do does for from had has
    have he her his how i if in into is it its just may me might more most must my no not of off on or our out over
    shall she should so some such than that the their them then there these they this those to too up us was we were
    what when where which while who whom why will with would you your
    """.split()  # noqa: SIM905  # a page of quotes would be hard to read
)
