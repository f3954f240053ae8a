"""The lists that one wants to see."""

from pantry.query import Column, select

expiry = Column("expiry")
unit = Column("unit")


def keeps_for_ever(stock):
    """What has no date of expiry."""
    return select(stock, expiry == None)


def perishable(stock):
    """What has a date of expiry."""
    return select(stock, expiry != None)


def unmeasured(stock):
    """What is there without anybody having said in which unit."""
    return select(stock, unit == None)


def urgent(stock, day):
    """What is past its date on a day."""
    return select(stock, expiry != None, expiry < day)
