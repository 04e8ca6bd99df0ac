"""A local web service: a page to type text into, and a JSON API. It needs the extra ``server``."""
