"""Text into the values of the model and back: each format read strictly, every fault with its line."""
