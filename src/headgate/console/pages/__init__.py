"""The console's pages: each module has the routes of one matter."""
