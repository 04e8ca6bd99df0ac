"""A model as a local web service: a page to type text into, and a JSON API. Needs the extra ``server``."""
