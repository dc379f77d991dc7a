"""What a submission sees of the course while it is graded: the same names, doing nothing."""


def _nothing(*args, **kwargs):
    return None


check = hint = doctor = explore = explore_rounding = race = three_views = _nothing
