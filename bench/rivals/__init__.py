"""The same questions and events for cer-gpu and for what people would use instead; answers are compared."""
