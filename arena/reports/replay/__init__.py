"""A recorded match to look at: a model of what can be seen, its words, and the forms that show it."""
