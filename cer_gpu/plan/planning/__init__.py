"""Plans a query: chooses a route, puts values of parameters in, and explains the result."""
