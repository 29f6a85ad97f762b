"""What an explanation is, how it is found by asking the model, how good it is, and how it is kept in files."""
