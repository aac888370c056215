"""What every service needs and no service owns; it knows none of them."""
