"""The words of the system as frozen values and closed enums. Imports nothing of ours and does nothing."""
