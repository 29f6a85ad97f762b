"""The data sets, one file a family, and the registry that names them."""
