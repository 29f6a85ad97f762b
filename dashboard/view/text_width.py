"""How wide words are, about, in the sans-serif fonts of screens: labels are placed by it on the canvas and in files."""

# Hundredths of the size of the letters, as in Helvetica and its kin.
_WIDTHS = {
    letter: width
    for width, letters in {
        22: "ijl'|",
        28: " .,:;!/\\[]ftI",
        33: '()-`r"',
        50: "ckszvxyJ",
        56: "abdeghnopqu0123456789_$#?L+<>=~",
        61: "TFZ^",
        67: "ABESPVXKY&",
        72: "CHNRDUw",
        78: "GOQ",
        83: "mM",
        94: "W",
        100: "@%…—",
    }.items()
    for letter in letters
}
OTHER, WIDE, IDEOGRAMS = 60, 100, 0x2E80  # from here on letters are as wide as high


def text_width(words: str) -> int:
    """In hundredths of the size of the letters."""
    return sum(_WIDTHS.get(letter, WIDE if ord(letter) >= IDEOGRAMS else OTHER) for letter in words)
