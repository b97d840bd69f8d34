"""Plain questions: funnels, gaps, as-of joins and the like, each in the best words of every tool."""
