"""What kind of thing a question asks for, and whether a sentence holds one."""

import re

_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|fifty|hundred|thousand|million"
    r"|half|once|twice|dozen|unlimited)\b",
    re.IGNORECASE,
)
_SPAN_OF_TIME = r"(?:second|minute|hour|day|week|month|year|decade|centur)"
_CALENDAR = (
    r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|\b(?:January|February|March|April|May|June|July|August|September"
    r"|October|November|December)\b|\b(?:spring|summer|autumn|winter|noon|midnight)\b"
)
_MONEY = re.compile(r"[\u00a3$\u20ac\u00a5]|\b(?:EUR|USD|GBP|CHF|dollars?|euros?|pounds?|pence|cents?)\b")
_TEMPERATURE = re.compile(r"\u00b0|\bdegrees?\b")
_CLOCK = re.compile(r"\b\d{1,2}[:.]\d{2}\b|\b\d{1,2} ?(?:am|pm|a\.m|p\.m|o'clock)\b|\b(?:noon|midnight)\b")
_WHEN = re.compile(rf"\d|{_CALENDAR}")
_DURATION = re.compile(
    rf"(?:\d|\b(?:a|an|one|two|three|four|five|six|seven|eight|nine|ten|twelve|few|several|every|half|within))"
    rf"[ \u00a0-](?:\w{{1,20}} )?{_SPAN_OF_TIME}|\bimmediately\b|\bat once\b|\d:\d"
)
_FREQUENCY = re.compile(
    rf"\b(?:every|each|per|a|once|twice|times)\b.{{0,20}}\b{_SPAN_OF_TIME}|{_CALENDAR}"
    r"|\b(?:daily|weekly|monthly|quarterly|yearly|annual|annually|hourly|nightly)\b"
)
_PERSON = re.compile(
    r"(?<!^)(?<![.!?] )\b[A-Z][a-z]"
    r"|\b(?:manager|lead|team|head|director|officer|owner|desk|department|engineer|partner)\b"
)
_CUES = (
    (re.compile(r"\bwhat temperature\b|\bhow (?:hot|cold|warm)\b"), _TEMPERATURE),
    (re.compile(r"\bhow much money\b|\b(?:cost|price|budget|salary|earn|fee|paid for)\b"), _MONEY),
    (re.compile(r"\b(?:what|which) time\b"), _CLOCK),
    (re.compile(r"\bhow often\b|\bhow frequently\b"), _FREQUENCY),
    (re.compile(r"\bhow (?:long|soon|quickly|fast|late)\b"), _DURATION),
    (re.compile(r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|century|decade)\b"), _WHEN),
    (
        re.compile(
            r"\bhow (?:many|much|far|large|big|high|old|tall|deep|heavy)\b"
            r"|\bwhat (?:is the )?(?:number|percentage|percent|share|amount|limit|maximum|minimum|most|least)\b"
        ),
        _NUMBER,
    ),
    (re.compile(r"\bwho(?:m|se)?\b"), _PERSON),
)


def cue(question: str) -> re.Pattern[str] | None:
    """Return what a sentence that answers the question is likely to hold: a sum, a time, a person; or nothing."""
    lower = question.lower()
    return next((answer for asked, answer in _CUES if asked.search(lower)), None)
