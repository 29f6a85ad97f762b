"""The names of query parameters, which are the keys of their widgets too, and the values that some of them take."""

from dashboard.schema import MAIN_METHOD, MASK_METHOD

DATASET = "dataset"  # key of the selector and name in the query parameters
MODEL, NODE, GRAPH, SOURCE, HEAD, SMILES, CLASS = "model", "node", "graph", "source", "head", "smiles", "class"
LABEL, INSTANCES = "label", "instances"
SHOWN = "shown"
SHOWN_AS = {
    "verified": MAIN_METHOD,
    "mask": MASK_METHOD,
}  # what the query parameters call the method of the main picture
K_M, K_M_AUTO = "k_m", "k_m_auto"
# Settings that say nothing of the mask: touching them leaves what is shown as it is. All others show the mask.
BESIDE_THE_MASK = (K_M, "k_m_unit", "k_f", "connected", "refine", "feature_fill", "max_edges")
METHODS, COLOUR, VIEW, LAYOUT, EVERYTHING = "methods", "colour", "view", "layout", "everything"
VIEWS = ("neighbourhood", "whole data set")
LAYOUTS = ("graph", "embedding", "gallery")
NO_METHOD = "none"  # a choice too, which an empty value could not tell from none made
SECOND, NO_SECOND = "second", "none"  # the network that the same target is explained under as well
MOST_INSTANCES = 200
# Of the Debug page: the class not predicted, what-if edits and those undone, explained again; what a click changes.
INSTEAD, EDITS, UNDONE, AGAIN, CHANGES = "instead", "edits", "undone", "again", "changes"
FLIP_KINDS, FLIP_TO = "flip", "flip_to"  # what may be changed to flip a prediction, and to which class
OF_TARGET = (NODE, GRAPH, SOURCE, HEAD, SMILES, CLASS, LABEL, INSTEAD, EDITS, UNDONE, AGAIN, FLIP_TO)
# Which instances the Debug page counts, and which cell of the confusion matrix it lists.
SPLIT, CELL = "split", "cell"
VERSUS = "versus"  # the cell of the table of two networks
WITH_DEGREE, WITH_SIZE, WITH_HOMOPHILY = RANGES = ("with_degree", "with_size", "with_homophily")
WITH_MOTIF, WITH_TEXT = "with_motif", "with_text"
OF_MISTAKES = (SPLIT, CELL, VERSUS, *RANGES, WITH_MOTIF, WITH_TEXT, CHANGES, FLIP_KINDS)
