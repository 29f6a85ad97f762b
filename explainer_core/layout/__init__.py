"""Where nodes are drawn: neighbourhoods, maps of a data set, molecules, and embeddings."""
