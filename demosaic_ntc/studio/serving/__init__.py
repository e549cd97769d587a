"""The server behind the page: routes, who may talk to it, what is answered, and the page itself."""
