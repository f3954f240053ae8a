"""What is to be done: the steps of a plan, their needs, and the orders for them."""
