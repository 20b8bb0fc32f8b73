"""The model without a model: rules and verbatim quotes, deterministic and without network."""
