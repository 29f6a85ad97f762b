"""How large a file from a stranger may be: stated before it is sent, counted while it is read."""

MB = 2**20
MAX_BYTES = 20 * MB  # of one file
MAX_EDGES = 200_000  # as the file lists them: one that runs both ways counts once
MAX_NODES = 100_000
MAX_FEATURES = 2_000
MAX_NUMBERS = 20_000_000  # features of all nodes together, 80 MB of them: words become one column each
MAX_CLASSES = 100
MAX_MOLECULES = 5_000
MAX_WORDS = 50  # different words of a column that become columns of their own
LONGEST_FIELD = 10_000  # letters of one value
