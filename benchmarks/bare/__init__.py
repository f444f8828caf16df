"""The yardstick: what a request costs that is signed in, checked for forgery, and stores one row."""
