"""What mistakes have in common, in sentences."""

from dashboard.schema import Group, Pattern
from dashboard.view.explanation_text import counted, percent


def counts_said(group: Group) -> str:
    """How many of the mistakes are in a group; of a pattern also how many right predictions, and how probable that is."""
    mistakes = f"{len(group.mistakes):,} of {group.num_mistakes:,} mistakes ({percent(group.share_of_mistakes)})"
    if not isinstance(group, Pattern):
        return f"{mistakes}."
    chance = "under 0.001" if group.p_value < 0.001 else f"{group.p_value:.3f}"
    return f"{mistakes}, {group.num_right_with:,} of {group.num_right:,} right ones (p {chance})."


def typical_said(title: str, features: str) -> str:
    """Whom the picture shows."""
    return f"Typical: {title}." + (f" Of its features the network looks most at {features}." if features else "")


def how_found(wrong: int, listed: int, right: int, tested: int) -> str:
    """`listed` are all mistakes, of which the surest were taken."""
    taken = counted(wrong, "mistake") if wrong == listed else f"The surest {wrong:,} of {counted(listed, 'mistake')}"
    return (
        f"{taken} and {right:,} right predictions were explained. {counted(tested, 'group')} were compared; "
        "a pattern is one that is more frequent among the mistakes, with p corrected for that number."
    )


def no_pattern(wrong: int, right: int) -> str:
    return (
        f"Nothing that these {counted(wrong, 'mistake')} have is significantly rarer among {right:,} right ones: "
        "no pattern is called."
    )


def left_over(count: int) -> str:
    """Of the mistakes that no pattern names."""
    if not count:
        return "Every mistake shows one of the patterns."
    return f"{counted(count, 'mistake')} show{'s' if count == 1 else ''} none of the patterns."


def progress_said(done: int, of: int) -> str:
    return f"{done:,} of {of:,} predictions explained"
