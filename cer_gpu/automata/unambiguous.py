def disambiguate(*a):
    raise NotImplementedError
