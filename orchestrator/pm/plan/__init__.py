"""What is to be done: the steps of a plan, what each needs, and the orders that say so."""
