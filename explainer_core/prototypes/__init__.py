"""One picture for a class: explanations of many members, aligned and joined."""
