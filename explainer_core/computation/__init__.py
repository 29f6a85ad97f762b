"""What can influence a prediction: in-edges, hop order, batches, and a model run on them."""
