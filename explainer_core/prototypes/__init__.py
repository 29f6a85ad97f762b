"""One picture for a whole class: explanations of many members, aligned and joined."""
