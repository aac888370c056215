"""What kind of thing a question asks for, and whether a sentence holds one."""

import re

_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|fifty|hundred|thousand|million"
    r"|half|once|twice|no limit|unlimited)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:january|february|march|april|may|june|july|august|september"
    r"|october|november|december|spring|summer|autumn|winter|daily|weekly|monthly|quarterly|yearly|annually|hour|day|week"
    r"|month|quarter|year)",
    re.IGNORECASE,
)
_PERSON = re.compile(
    r"(?<!^)(?<![.!?] )\b[A-Z][a-z]"
    r"|\b(?:manager|lead|team|head|director|officer|owner|desk|department|engineer|partner)\b"
)
_CUES = (
    (
        re.compile(r"\bhow (?:many|much|far|large|big|high|old)\b|\bwhat (?:number|percentage|share|amount|limit)\b"),
        _NUMBER,
    ),
    (re.compile(r"\bwhen\b|\bhow (?:long|often|soon|quickly|late)\b|\bwhat (?:year|date|day|time|month)\b"), _TIME),
    (re.compile(r"\bwho(?:m|se)?\b"), _PERSON),
)


def cue(question: str) -> re.Pattern[str] | None:
    """Return what a sentence that answers the question is likely to hold: a number, a time, a person; or nothing."""
    lower = question.lower()
    return next((answer for asked, answer in _CUES if asked.search(lower)), None)
