"""What a fit may do beside sweeping: one stage, one file."""
