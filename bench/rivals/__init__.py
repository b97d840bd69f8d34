"""The same questions, events and answers, asked of cer-gpu and of what people would use instead."""
