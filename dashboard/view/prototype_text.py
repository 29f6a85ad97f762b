"""Sentences about what the members of a class share."""

NO_FRAGMENT = (
    "No fragment of three atoms or more is in the kept part of 15 % of the members: this class has no one shape."
)
HOW_READ = (
    "Each is cut out of a real molecule; its bonds to the rest of that molecule are left out. Counted are the members "
    "whose explanation keeps it."
)


def found_in(having: int, members: int) -> str:
    return f"found in {100 * having / members:.0f} % of the members"


def counts(having: int, members: int, in_molecules: int) -> str:
    """How many members' explanations keep a fragment, beside how many molecules have it at all."""
    return f"kept by {having} of {members}; {in_molecules} of these molecules have it"


def kept_here(kept: int, found: int) -> str:
    """How many of a class's fragments one explanation keeps."""
    if found == 1:
        return "This explanation keeps it too." if kept else "This explanation does not keep it."
    return f"This explanation keeps {kept or 'none'} of these {found}."
