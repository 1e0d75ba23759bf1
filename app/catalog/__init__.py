"""Models, GPUs, offers and exchange rates: packaged data with sources, and team overrides."""
