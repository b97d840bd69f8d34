def to_pcea(*a):
    raise NotImplementedError
