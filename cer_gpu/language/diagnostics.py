def render_all(d,t): return repr(d)
