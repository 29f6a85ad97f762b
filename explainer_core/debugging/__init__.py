"""From a wrong prediction to its reason: edits of a graph, the smallest change that flips a prediction, causes of mistakes."""
