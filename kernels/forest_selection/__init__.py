"""What NEXT, LAST and MAX leave of the complex events in a persistent structure."""
